/* reducelogsumexp.c - ReduceLogSumExp: the logarithm of the sum of exponentials over axes. */
#include "op/op_reduce.h"

static holo_status reducelogsumexp_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_LOG_SUM_EXP);
}

static holo_status reducelogsumexp_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_LOG_SUM_EXP);
}

const hg_op hg_op_reducelogsumexp = {
    .name = "ReduceLogSumExp",
    .brief = "the logarithm of the sum of exponentials over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducelogsumexp_emit,
    .gradient = reducelogsumexp_gradient,
};
