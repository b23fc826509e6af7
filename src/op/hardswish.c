/* hardswish.c - HardSwish: y = x (x / 6 + 1/2 clamped to [0, 1]). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id hardswish_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id line = hg_lane_2(f->b, HG_LANE_MUL, in[0], hg_formula_number(f, in[0], 1.0 / 6.0));
    line = hg_lane_2(f->b, HG_LANE_ADD, line, hg_formula_number(f, in[0], 0.5));
    return hg_lane_2(f->b, HG_LANE_MUL, in[0], hg_formula_clamp(f, line, 0.0, 1.0));
}

const hg_op hg_op_hardswish = {
    .name = "HardSwish",
    .brief = "y = x (x / 6 + 1/2 clamped to [0, 1])",
    .since = 14,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = hardswish_lane,
};
