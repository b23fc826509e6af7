/* where.c - Where: y = a where the condition holds, b elsewhere. */
#include "op/op.h"
#include "op/op_shape.h"

static holo_status where_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_infer_same_type(n, 1, 2));
    n->out[0].dtype = n->in[1]->dtype;
    return hg_shape_broadcast(n, 0, 3, &n->out[0]);
}

static hg_lane_id where_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_select(f->b, in[0], in[1], in[2]);
}

/* Texts and complex numbers need a kernel. */
static holo_status where_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 1);
    if (hg_lane_type_of(hg_build_type(b, x)->dtype) != 0) return HOLO_OK;
    hg_build_replace(b, 0, hg_build_3(b, "holo:WhereAny", hg_build_in(b, 0), x, hg_build_in(b, 2)));
    return b->status;
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
    .lower = where_lower,
};
