/* uniquepick.c - holo:UniquePick: one of each group of equal slices, given their order. */
#include "op/op.h"

static holo_status uniquepick_infer(hg_infer *n)
{
    int64_t axis;
    HG_TRY(hg_attr_int(n, "axis", -1, &axis));
    n->out[0] = *n->in[0];
    if (axis < 0) n->out[0].rank = 1;
    uint32_t at = axis < 0 ? 0 : (uint32_t)axis;
    n->out[0].dim[at] = hg_infer_late_dim(n, 0, at);
    for (uint32_t j = 1; j < n->n_out; j++) {
        n->out[j] = (hg_type){.dtype = HOLO_I64, .rank = 1};
        n->out[j].dim[0] = j == 2 ? n->in[1]->dim[0] : hg_infer_late_dim(n, j, 0);
    }
    return HOLO_OK;
}

static holo_status uniquepick_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "axis", -1)));
    return hg_emit_int(e, hg_node_int(e->node, "sorted", 1));
}

const hg_op hg_op_internal_uniquepick = {
    .name = "UniquePick",
    .domain = "holo",
    .brief = "one of each group of equal slices, given their order",
    .since = 1,
    .in = {2, 2},
    .out = {1, 4},
    .flags = HG_OP_INTERNAL,
    .infer = uniquepick_infer,
    .kernel = "unique",
    .emit = uniquepick_emit,
};
