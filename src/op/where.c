/* where.c - Where: y = a where the condition holds, b elsewhere. */
#include "op/op.h"
#include "op/op_shape.h"

static holo_status where_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_NUMBER | HG_TYPES_BOOL));
    HG_TRY(hg_infer_same_type(n, 1, 2));
    n->out[0].dtype = n->in[1]->dtype;
    return hg_shape_broadcast(n, 0, 3, &n->out[0]);
}

static hg_lane_id where_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_select(f->b, in[0], in[1], in[2]);
}

const hg_op hg_op_where = {
    .name = "Where",
    .brief = "y = a where the condition holds, b elsewhere",
    .since = 9,
    .version = 16,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_BOOL,
    .infer = where_infer,
    .lane = where_lane,
};
