/* thresholdedrelu.c - ThresholdedRelu: y = x for x > alpha, 0 otherwise. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id thresholdedrelu_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id alpha = hg_formula_number(f, in[0], hg_node_float(f->node, "alpha", 1.0));
    hg_lane_id above = hg_lane_2(f->b, HG_LANE_LT, alpha, in[0]);
    return hg_lane_select(f->b, above, in[0], hg_formula_number(f, in[0], 0.0));
}

const hg_op hg_op_thresholdedrelu = {
    .name = "ThresholdedRelu",
    .brief = "y = x for x > alpha, 0 otherwise",
    .since = 10,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = thresholdedrelu_lane,
};
