/* elu.c - Elu: y = x for x > 0, alpha (e^x - 1) otherwise. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id elu_lane(hg_formula *f, const hg_lane_id *in)
{
    double alpha = hg_node_float(f->node, "alpha", 1.0);
    hg_lane_id zero = hg_formula_number(f, in[0], 0.0), a = hg_formula_number(f, in[0], alpha);
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_MUL, a, hg_lane_1(f->b, HG_LANE_EXPM1, in[0]));
    return hg_lane_select(f->b, hg_lane_2(f->b, HG_LANE_LT, zero, in[0]), in[0], low);
}

const hg_op hg_op_elu = {
    .name = "Elu",
    .brief = "y = x for x > 0, alpha (e^x - 1) otherwise",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = elu_lane,
};
