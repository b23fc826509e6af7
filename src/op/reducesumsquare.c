/* reducesumsquare.c - ReduceSumSquare: the sum of squares over axes. */
#include "op/op_reduce.h"

static holo_status reducesumsquare_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_SUM_SQUARE);
}

static holo_status reducesumsquare_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_SUM_SQUARE);
}

const hg_op hg_op_reducesumsquare = {
    .name = "ReduceSumSquare",
    .brief = "the sum of squares over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducesumsquare_emit,
    .gradient = reducesumsquare_gradient,
};
