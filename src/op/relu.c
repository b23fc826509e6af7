/* relu.c - Relu: y = max(0, x). */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id relu_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_2(f->b, HG_LANE_MAX, in[0], hg_formula_number(f, in[0], 0.0));
}

const hg_op hg_op_relu = {
    .name = "Relu",
    .brief = "y = max(0, x)",
    .since = 1,
    .version = 14,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_SIGNED,
    .infer = hg_infer_same_as_input,
    .lane = relu_lane,
};
