/* lessorequal.c - LessOrEqual: y = a is at most b. */
#include "op/op.h"

static hg_lane_id lessorequal_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_LE, in[0], in[1]);
}

const hg_op hg_op_lessorequal = {
    .name = "LessOrEqual",
    .brief = "y = a is at most b",
    .since = 12,
    .version = 16,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_infer_broadcast_bool,
    .lane = lessorequal_lane,
};
