/* less.c - Less: y = a is below b. */
#include "op/op.h"
#include "op/op_upgrade.h"

static hg_lane_id less_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_LT, in[0], in[1]);
}

const hg_op hg_op_less = {
    .name = "Less",
    .brief = "y = a is below b",
    .since = 1,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .upgrade = hg_upgrade_broadcast,
    .infer = hg_infer_broadcast_bool,
    .lane = less_lane,
};
