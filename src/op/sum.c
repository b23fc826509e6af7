/* sum.c - Sum: the sum of all inputs, by element. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id sum_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_formula_chain(f, HG_LANE_ADD, in);
}

const hg_op hg_op_sum = {
    .name = "Sum",
    .brief = "the sum of all inputs, by element",
    .since = 1,
    .version = 13,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_broadcast,
    .lane = sum_lane,
};
