/* floor.c - Floor: y = the largest integer that is at most x. */
#include "op/op.h"

static hg_lane_id floor_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_FLOOR, in[0]);
}

const hg_op hg_op_floor = {
    .name = "Floor",
    .brief = "y = the largest integer that is at most x",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = floor_lane,
};
