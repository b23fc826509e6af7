/* bitwisenot.c - BitwiseNot: y = ~x. */
#include "op/op.h"

static hg_lane_id bitwisenot_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_NOT, in[0]);
}

const hg_op hg_op_bitwisenot = {
    .name = "BitwiseNot",
    .brief = "y = ~x",
    .since = 18,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_INT,
    .infer = hg_infer_same_as_input,
    .lane = bitwisenot_lane,
};
