/* reducesum.c - ReduceSum: the sum over axes. */
#include "op/op_reduce.h"

static holo_status reducesum_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_SUM);
}

static holo_status reducesum_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_SUM);
}

const hg_op hg_op_reducesum = {
    .name = "ReduceSum",
    .brief = "the sum over axes",
    .since = 1,
    .version = 13,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducesum_emit,
    .gradient = reducesum_gradient,
};
