/* hardsigmoid.c - HardSigmoid: y = alpha x + beta, clamped to [0, 1]. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id hardsigmoid_lane(hg_formula *f, const hg_lane_id *in)
{
    double alpha = hg_node_float(f->node, "alpha", 0.2f),
           beta = hg_node_float(f->node, "beta", 0.5);
    hg_lane_id line = hg_lane_2(f->b, HG_LANE_MUL, in[0], hg_formula_number(f, in[0], alpha));
    line = hg_lane_2(f->b, HG_LANE_ADD, line, hg_formula_number(f, in[0], beta));
    return hg_formula_clamp(f, line, 0.0, 1.0);
}

const hg_op hg_op_hardsigmoid = {
    .name = "HardSigmoid",
    .brief = "y = alpha x + beta, clamped to [0, 1]",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = hardsigmoid_lane,
};
