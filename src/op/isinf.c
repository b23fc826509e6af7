/* isinf.c - IsInf: y = x is infinite. */
#include "op/op.h"
#include "op/op_formula.h"

static hg_lane_id isinf_lane(hg_formula *f, const hg_lane_id *in)
{
    bool negative = hg_node_int(f->node, "detect_negative", 1) != 0;
    bool positive = hg_node_int(f->node, "detect_positive", 1) != 0;
    hg_lane_id y = hg_lane_1(f->b, HG_LANE_ISINF, in[0]);
    hg_lane_id zero = hg_formula_number(f, in[0], 0.0);
    if (!negative) y = hg_lane_2(f->b, HG_LANE_AND, y, hg_lane_2(f->b, HG_LANE_LT, zero, in[0]));
    if (!positive) y = hg_lane_2(f->b, HG_LANE_AND, y, hg_lane_2(f->b, HG_LANE_LT, in[0], zero));
    return y;
}

const hg_op hg_op_isinf = {
    .name = "IsInf",
    .brief = "y = x is infinite, of the signs asked for",
    .since = 10,
    .version = 20,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPES_FLOAT8,
    .infer = hg_infer_same_shape_bool,
    .lane = isinf_lane,
};
