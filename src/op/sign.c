/* sign.c - Sign: y = -1, 0 or 1. */
#include "op/op.h"

static hg_lane_id sign_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_SIGN, in[0]);
}

const hg_op hg_op_sign = {
    .name = "Sign",
    .brief = "y = -1, 0 or 1",
    .since = 9,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_infer_same_as_input,
    .lane = sign_lane,
};
