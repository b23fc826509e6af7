/* sqrt.c - Sqrt: y = the square root of x. */
#include "op/op.h"

static hg_lane_id sqrt_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_SQRT, in[0]);
}

const hg_op hg_op_sqrt = {
    .name = "Sqrt",
    .brief = "y = the square root of x",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = sqrt_lane,
};
