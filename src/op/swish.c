/* swish.c - Swish: y = x / (1 + e^(-alpha x)). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id swish_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_formula_swish(f, in[0]);
}

const hg_op hg_op_swish = {
    .name = "Swish",
    .brief = "y = x / (1 + e^(-alpha x))",
    .since = 24,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = swish_lane,
};
