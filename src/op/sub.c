/* sub.c - Sub: y = a - b. */
#include "op/op.h"
#include "op/op_upgrade.h"

static hg_lane_id sub_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_SUB, in[0], in[1]);
}

const hg_op hg_op_sub = {
    .name = "Sub",
    .brief = "y = a - b",
    .since = 1,
    .version = 14,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .upgrade = hg_upgrade_broadcast,
    .infer = hg_infer_broadcast,
    .lane = sub_lane,
};
