/* uniqueorder.c - holo:UniqueOrder: the numbers of the slices along an axis, in ascending order of
 * slices. */
#include "op/op.h"

/* axis -1: elements are slices. */
static holo_status uniqueorder_infer(hg_infer *n)
{
    int64_t axis;
    HG_TRY(hg_attr_int(n, "axis", -1, &axis));
    n->out[0] = (hg_type){.dtype = HOLO_I64, .rank = 1};
    n->out[0].dim[0] = axis < 0 ? hg_type_count(n->g, n->in[0]) : n->in[0]->dim[axis];
    return HOLO_OK;
}

static holo_status uniqueorder_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "axis", -1));
}

const hg_op hg_op_internal_uniqueorder = {
    .name = "UniqueOrder",
    .domain = "holo",
    .brief = "the numbers of the slices along an axis, in ascending order of slices",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = uniqueorder_infer,
    .kernel = "unique.order",
    .emit = uniqueorder_emit,
};
