/* neg.c - Neg: y = -x. */
#include "op/op.h"

static hg_lane_id neg_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_NEG, in[0]);
}

const hg_op hg_op_neg = {
    .name = "Neg",
    .brief = "y = -x",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_SIGNED,
    .infer = hg_infer_same_as_input,
    .lane = neg_lane,
};
