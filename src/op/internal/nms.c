/* nms.c - holo:Nms: chosen boxes, as many rows as there could be, and how many were chosen.
 * Attributes: most (a dimension: boxes a class), center_point_box. */
#include "op/op_matmul.h"
#include "op/op_window.h"

static holo_status nms_infer(hg_infer *n)
{
    hg_dim most;
    int64_t center;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 3, 3));
    HG_TRY(hg_infer_rank(n, 1, 3, 3));
    HG_TRY(hg_attr_dim(n, "most", &most));
    HG_TRY(hg_attr_int(n, "center_point_box", 0, &center));
    const hg_dim *scores = n->in[1]->dim;
    hg_dim rows =
        hg_dim_mul(d, hg_dim_mul(d, scores[0], scores[1]), hg_dim_min(d, n->in[0]->dim[1], most));
    n->out[0] = (hg_type){.dtype = HOLO_I64, .rank = 2, .dim = {rows, hg_dim_const(d, 3)}};
    n->out[1] = (hg_type){.dtype = HOLO_I64, .rank = 1, .dim = {hg_dim_const(d, 1)}};
    return HOLO_OK;
}

static holo_status nms_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_dim most;
    HG_TRY(hg_attr_dim(&n, "most", &most));
    HG_TRY(hg_emit_dim(e, most));
    return hg_emit_int(e, hg_node_int(e->node, "center_point_box", 0) != 0);
}

const hg_op hg_op_internal_nms = {
    .name = "Nms",
    .domain = "holo",
    .brief = "boxes that do not overlap better ones, and their number",
    .since = 1,
    .in = {2, 4},
    .out = {2, 2},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_INTERNAL,
    .infer = nms_infer,
    .kernel = "nms",
    .emit = nms_emit,
};
