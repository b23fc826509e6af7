/* reducemean.c - ReduceMean: the mean over axes. */
#include "op/op_reduce.h"

static holo_status reducemean_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_MEAN);
}

static holo_status reducemean_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_MEAN);
}

const hg_op hg_op_reducemean = {
    .name = "ReduceMean",
    .brief = "the mean over axes",
    .since = 1,
    .version = 18,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES,
    .infer = hg_reduce_infer,
    .kernel = "reduce",
    .emit = reducemean_emit,
    .gradient = reducemean_gradient,
};
