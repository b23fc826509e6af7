/* or.c - Or: y = a or b. */
#include "op/op.h"
#include "op/op_upgrade.h"

static hg_lane_id or_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_OR, in[0], in[1]);
}

const hg_op hg_op_or = {
    .name = "Or",
    .brief = "y = a or b",
    .since = 1,
    .version = 7,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_BOOL,
    .upgrade = hg_upgrade_broadcast,
    .infer = hg_infer_broadcast,
    .lane = or_lane,
};
