/* argmax.c - ArgMax: where the largest element along an axis is. */
#include "op/op_reduce.h"

static holo_status argmax_emit(hg_emit *e)
{
    return hg_reduce_emit_index(e, HG_REDUCE_ARG_MAX);
}

const hg_op hg_op_argmax = {
    .name = "ArgMax",
    .brief = "where the largest element along an axis is",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_reduce_infer_index,
    .kernel = "reduce.order",
    .emit = argmax_emit,
};
