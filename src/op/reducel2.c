/* reducel2.c - ReduceL2: the root of the sum of squares over axes. */
#include "op/op_reduce.h"

static holo_status reducel2_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_L2);
}

static holo_status reducel2_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_L2);
}

const hg_op hg_op_reducel2 = {
    .name = "ReduceL2",
    .brief = "the root of the sum of squares over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducel2_emit,
    .gradient = reducel2_gradient,
};
