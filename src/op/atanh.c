/* atanh.c - Atanh: y = artanh x. */
#include "op/op.h"

static hg_lane_id atanh_lane(hg_formula *f, const hg_lane_id *in)
{
    return hg_lane_1(f->b, HG_LANE_ATANH, in[0]);
}

const hg_op hg_op_atanh = {
    .name = "Atanh",
    .brief = "y = artanh x",
    .since = 9,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lane = atanh_lane,
};
