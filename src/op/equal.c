/* equal.c - Equal: y = a is equal to b. */
#include "op/op.h"
#include "op/op_upgrade.h"

static hg_lane_id equal_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_EQ, in[0], in[1]);
}

/* Texts need a kernel. */
static holo_status equal_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    if (hg_build_type(b, x)->dtype != HOLO_STRING) return HOLO_OK;
    hg_build_replace(b, 0, hg_build_2(b, "holo:EqualString", x, hg_build_in(b, 1)));
    return b->status;
}

const hg_op hg_op_equal = {
    .name = "Equal",
    .brief = "y = a is equal to b",
    .since = 1,
    .version = 19,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_STRING,
    .upgrade = hg_upgrade_broadcast,
    .infer = hg_infer_broadcast_bool,
    .lane = equal_lane,
    .lower = equal_lower,
};
