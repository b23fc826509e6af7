/* isnan.c - IsNaN: y = x is not a number. */
#include "op/op.h"

static hg_lane_id isnan_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ISNAN, in[0]);
}

const hg_op hg_op_isnan = {
    .name = "IsNaN",
    .brief = "y = x is not a number",
    .since = 9,
    .version = 20,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPES_FLOAT8,
    .infer = hg_infer_same_shape_bool,
    .lane = isnan_lane,
};
