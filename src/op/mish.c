/* mish.c - Mish: y = x tanh(softplus x). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id mish_lane(hg_formula *f, const hg_lane_id *in)
{
    hg_lane_id soft = hg_formula_softplus(f, in[0]);
    return hg_lane_2(f->b, HG_LANE_MUL, in[0], hg_lane_1(f->b, HG_LANE_TANH, soft));
}

const hg_op hg_op_mish = {
    .name = "Mish",
    .brief = "y = x tanh(softplus x)",
    .since = 18,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = mish_lane,
};
