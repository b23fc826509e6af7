/* abs.c - Abs: y = |x|. */
#include "op/op.h"

static hg_lane_id abs_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ABS, in[0]);
}

const hg_op hg_op_abs = {
    .name = "Abs",
    .brief = "y = |x|",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = hg_infer_same_as_input,
    .lane = abs_lane,
};
