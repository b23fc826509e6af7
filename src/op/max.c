/* max.c - Max: the largest of all inputs, by element. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id max_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_formula_chain(f, HG_LANE_MAX, in);
}

const hg_op hg_op_max = {
    .name = "Max",
    .brief = "the largest of all inputs, by element",
    .since = 1,
    .version = 13,
    .in = {1, -1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_infer_broadcast,
    .lane = max_lane,
};
