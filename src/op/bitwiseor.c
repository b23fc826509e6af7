/* bitwiseor.c - BitwiseOr: y = a | b. */
#include "op/op.h"

static hg_lane_id bitwiseor_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_OR, in[0], in[1]);
}

const hg_op hg_op_bitwiseor = {
    .name = "BitwiseOr",
    .brief = "y = a | b",
    .since = 18,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_INT,
    .infer = hg_infer_broadcast,
    .lane = bitwiseor_lane,
};
