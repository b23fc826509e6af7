/* nonmaxsuppression.c - NonMaxSuppression: boxes that do not overlap better ones too much. */
#include "op/op_scalar.h"
#include "op/op_window.h"

static holo_status nonmaxsuppression_infer(hg_infer *n)
{
    int64_t center;
    hg_dim most;
    HG_TRY(hg_infer_rank(n, 0, 3, 3));
    HG_TRY(hg_infer_rank(n, 1, 3, 3));
    HG_TRY(hg_attr_int(n, "center_point_box", 0, &center));
    if (hg_infer_has(n, 2)) HG_TRY(hg_infer_scalar(n, 2, &most));
    n->out[0] = (hg_type){.dtype = HOLO_I64,
                          .rank = 2,
                          .dim = {hg_infer_late_dim(n, 0, 0), hg_dim_const(n->dims, 3)}};
    return HOLO_OK;
}

/* As many rows as there could be, cut to those that are. Without a number of boxes none is chosen.
 */
static holo_status nonmaxsuppression_lower(hg_build *b)
{
    const hg_type *type = hg_build_type(b, hg_build_in(b, 2));
    const hg_type *in_type[] = {NULL, NULL, type};
    hg_dims *d = &b->g->dims;
    hg_infer n = {.g = b->g,
                  .ctx = b->ctx,
                  .dims = d,
                  .id = b->id,
                  .node = b->node,
                  .in = in_type,
                  .n_in = 3};
    hg_dim zero = hg_dim_const(d, 0), most = zero;
    if (hg_build_in(b, 2) != 0) HG_TRY(hg_infer_scalar(&n, 2, &most));
    most = hg_dim_max(d, most, zero);
    hg_attr attr[] = {
        hg_attr_make_dims(b, "most", &most, 1),
        hg_attr_make_int("center_point_box", hg_node_int(b->node, "center_point_box", 0)),
    };
    hg_value_id in[] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 3), hg_build_in(b, 4)};
    hg_node_id nms = hg_build_node(b, "holo:Nms", in, HG_COUNT(in), attr, HG_COUNT(attr), 2);
    if (b->status != HOLO_OK) return b->status;
    hg_value_id rows = hg_graph_node(b->g, nms)->out[0], count = hg_graph_node(b->g, nms)->out[1];
    hg_value_id start = hg_build_ints(b, (int64_t[]){0}, 1);
    hg_value_id cut[] = {rows, start, count, start};
    hg_build_replace(b, 0, hg_build_op(b, "Slice", cut, HG_COUNT(cut), NULL, 0));
    return b->status;
}

const hg_op hg_op_nonmaxsuppression = {
    .name = "NonMaxSuppression",
    .brief = "boxes that do not overlap better ones too much",
    .since = 10,
    .version = 11,
    .in = {2, 5},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = nonmaxsuppression_infer,
    .lower = nonmaxsuppression_lower,
};
