/* shrink.c - Shrink: y = x + bias below -lambd, x - bias above lambd, 0 between. */
#include "op/op.h"
#include "op/op_formula.h"

static bool shrink_is_float(hg_lane_type type)
{
    return type == HG_LANE_F32 || type == HG_LANE_F64;
}

/* A whole bias is added to integers as an integer: 64 bits do not fit a float. With any other,
 * integers shrink as floats do and are cut off afterwards. */
static hg_lane_id shrink_lane(hg_formula *f, const hg_lane_id *in)
{
    double lambd = hg_node_float(f->node, "lambd", 0.5), bias = hg_node_float(f->node, "bias", 0.0);
    hg_lane_type type = hg_lane_typeof(f->b, in[0]);
    hg_lane_id x = hg_lane_cast(f->b, in[0], type == HG_LANE_F32 ? HG_LANE_F32 : HG_LANE_F64);
    bool whole = !shrink_is_float(type) && bias >= 0 && bias < 0x1p31 && bias == (int32_t)bias;
    hg_lane_id from = whole ? in[0] : x;
    hg_lane_id low = hg_lane_2(f->b, HG_LANE_ADD, from, hg_formula_number(f, from, bias));
    hg_lane_id high = hg_lane_2(f->b, HG_LANE_SUB, from, hg_formula_number(f, from, bias));
    hg_lane_id is_low = hg_lane_2(f->b, HG_LANE_LT, x, hg_formula_number(f, x, -lambd));
    hg_lane_id is_high = hg_lane_2(f->b, HG_LANE_LT, hg_formula_number(f, x, lambd), x);
    hg_lane_id y = hg_lane_select(f->b, is_high, high, hg_formula_number(f, from, 0.0));
    return hg_formula_convert(f, hg_lane_select(f->b, is_low, low, y), f->out_dtype);
}

const hg_op hg_op_shrink = {
    .name = "Shrink",
    .brief = "y = x + bias for x < -lambd, x - bias for x > lambd, 0 otherwise",
    .since = 9,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER & ~HG_TYPE_BIT(HOLO_BF16),
    .infer = hg_infer_same_as_input,
    .lane = shrink_lane,
};
