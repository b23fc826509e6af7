/* leakyrelu.c - LeakyRelu: y = alpha x for x < 0, x otherwise. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id leakyrelu_lane(hg_formula *f, const hg_lane_id *in)
{
    double alpha = hg_node_float(f->node, "alpha", 0.01f);
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_MUL, in[0], hg_formula_number(f, in[0], alpha));
    /* the same bits; 0 times infinity would be larger */
    if (alpha > 0 && alpha <= 1) return hg_lane_2(f->b, HG_LANE_MAX, low, in[0]);
    hg_lane_id negative = hg_lane_2(f->b, HG_LANE_LT, in[0], hg_formula_number(f, in[0], 0.0));
    return hg_lane_select(f->b, negative, low, in[0]);
}

const hg_op hg_op_leakyrelu = {
    .name = "LeakyRelu",
    .brief = "y = alpha x for x < 0, x otherwise",
    .since = 1,
    .version = 16,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = leakyrelu_lane,
};
