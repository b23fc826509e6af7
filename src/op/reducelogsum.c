/* reducelogsum.c - ReduceLogSum: the logarithm of the sum over axes. */
#include "op/op_reduce.h"

static holo_status reducelogsum_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_LOG_SUM);
}

static holo_status reducelogsum_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_LOG_SUM);
}

const hg_op hg_op_reducelogsum = {
    .name = "ReduceLogSum",
    .brief = "the logarithm of the sum over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducelogsum_emit,
    .gradient = reducelogsum_gradient,
};
