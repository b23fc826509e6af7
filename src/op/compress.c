/* compress.c - Compress: the slices along an axis for which a condition holds. */
#include "op/op.h"

static holo_status compress_infer(hg_infer *n)
{
    int32_t axis = 0;
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_BOOL));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    n->out[0] = *n->in[0];
    if (hg_node_attr(n->node, "axis") == NULL)
        n->out[0].rank = 1;
    else
        HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
    n->out[0].dim[axis] = hg_infer_late_dim(n, 0, (uint32_t)axis);
    return HOLO_OK;
}

static holo_status compress_emit(hg_emit *e)
{
    if (hg_node_attr(e->node, "axis") == NULL) return hg_emit_int(e, -1);
    int64_t axis = hg_node_int(e->node, "axis", 0);
    return hg_emit_int(e, axis < 0 ? axis + hg_emit_type(e, 0)->rank : axis);
}

const hg_op hg_op_compress = {
    .name = "Compress",
    .brief = "the slices along an axis for which a condition holds",
    .since = 9,
    .version = 11,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = compress_infer,
    .kernel = "compress",
    .emit = compress_emit,
};
