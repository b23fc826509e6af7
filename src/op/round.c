/* round.c - Round: y = x rounded to the nearest integer, ties to even. */
#include "op/op.h"

static hg_lane_id round_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ROUND, in[0]);
}

const hg_op hg_op_round = {
    .name = "Round",
    .brief = "y = x rounded to the nearest integer, ties to even",
    .since = 11,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = round_lane,
};
