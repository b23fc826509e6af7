/* not.c - Not: y = not x. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id not_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_formula_not(f, in[0]);
}

const hg_op hg_op_not = {
    .name = "Not",
    .brief = "y = not x",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_BOOL,
    .infer = hg_infer_same_as_input,
    .lane = not_lane,
};
