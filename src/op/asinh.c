/* asinh.c - Asinh: y = arsinh x. */
#include "op/op.h"

static hg_lane_id asinh_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ASINH, in[0]);
}

const hg_op hg_op_asinh = {
    .name = "Asinh",
    .brief = "y = arsinh x",
    .since = 9,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = asinh_lane,
};
