/* celu.c - Celu: y = max(0, x) + min(0, alpha (e^(x / alpha) - 1)). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id celu_lane(hg_formula *f, const hg_lane_id *in)
{
    double alpha = hg_node_float(f->node, "alpha", 1.0);
    hg_lane_id zero = hg_formula_number(f, in[0], 0.0), a = hg_formula_number(f, in[0], alpha);
    hg_lane_id power = hg_lane_1(f->b, HG_LANE_EXPM1, hg_lane_2(f->b, HG_LANE_DIV, in[0], a));
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_MIN, zero, hg_lane_2(f->b, HG_LANE_MUL, a, power));
    return hg_lane_2(f->b, HG_LANE_ADD, hg_lane_2(f->b, HG_LANE_MAX, zero, in[0]), low);
}

const hg_op hg_op_celu = {
    .name = "Celu",
    .brief = "y = max(0, x) + min(0, alpha (e^(x / alpha) - 1))",
    .since = 12,
    .version = 28,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = celu_lane,
};
