/* reducemax.c - ReduceMax: the largest element over axes. */
#include "op/op_reduce.h"

static holo_status reducemax_emit(hg_emit *e)
{
    return hg_reduce_emit(e, HG_REDUCE_MAX);
}

static holo_status reducemax_gradient(hg_gradient *d)
{
    return hg_reduce_gradient(d, HG_REDUCE_MAX);
}

const hg_op hg_op_reducemax = {
    .name = "ReduceMax",
    .brief = "the largest element over axes",
    .since = 1,
    .version = 20,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_REDUCE_TYPES | HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8) | HG_TYPES_BOOL,
    .infer = hg_reduce_infer,
    .kernel = "reduce.order",
    .emit = reducemax_emit,
    .gradient = reducemax_gradient,
};
