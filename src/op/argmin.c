/* argmin.c - ArgMin: where the smallest element along an axis is. */
#include "op/op_reduce.h"

static holo_status argmin_emit(hg_emit *e)
{
    return hg_reduce_emit_index(e, HG_REDUCE_ARG_MIN);
}

const hg_op hg_op_argmin = {
    .name = "ArgMin",
    .brief = "where the smallest element along an axis is",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_reduce_infer_index,
    .kernel = "reduce.order",
    .emit = argmin_emit,
};
