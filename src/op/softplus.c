/* softplus.c - Softplus: y = ln(1 + e^x). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id softplus_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_formula_softplus(f, in[0]);
}

const hg_op hg_op_softplus = {
    .name = "Softplus",
    .brief = "y = ln(1 + e^x)",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = softplus_lane,
};
