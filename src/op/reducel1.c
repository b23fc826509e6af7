/* reducel1.c - ReduceL1: the sum of absolute values over axes. */
#include "op/op_reduce.h"

static holo_status reducel1_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_L1);
}

static holo_status reducel1_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_L1);
}

const hg_op hg_op_reducel1 = {
    .name = "ReduceL1",
    .brief = "the sum of absolute values over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducel1_emit,
    .gradient = reducel1_gradient,
};
