/* greaterorequal.c - GreaterOrEqual: y = a is at least b. */
#include "op/op.h"

static hg_lane_id greaterorequal_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_LE, in[1], in[0]);
}

const hg_op hg_op_greaterorequal = {
    .name = "GreaterOrEqual",
    .brief = "y = a is at least b",
    .since = 12,
    .version = 16,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_infer_broadcast_bool,
    .lane = greaterorequal_lane,
};
