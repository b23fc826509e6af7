/* op_formula.c - pieces that several lane formulas share. */
#include "op/op_formula.h"

hg_lane_id hg_formula_number(hg_formula *f, hg_lane_id like, double value)
{
    return hg_lane_const_f(f->b, hg_lane_typeof(f->b, like), value);
}

hg_lane_id hg_formula_clamp(hg_formula *f, hg_lane_id x, double low, double high)
{
    hg_lane_id y = hg_lane_2(f->b, HG_LANE_MAX, x, hg_formula_number(f, x, low));
    return hg_lane_2(f->b, HG_LANE_MIN, y, hg_formula_number(f, x, high));
}

hg_lane_id hg_formula_softplus(hg_formula *f, hg_lane_id x)
{
    hg_lane_id size = hg_lane_1(f->b, HG_LANE_ABS, x);
    hg_lane_id tail = hg_lane_1(f->b, HG_LANE_EXP, hg_lane_1(f->b, HG_LANE_NEG, size));
    hg_lane_id high = hg_lane_2(f->b, HG_LANE_MAX, x, hg_formula_number(f, x, 0.0));
    return hg_lane_2(f->b, HG_LANE_ADD, high, hg_lane_1(f->b, HG_LANE_LOG1P, tail));
}

hg_lane_id hg_formula_swish(hg_formula *f, hg_lane_id x)
{
    double alpha = hg_node_float(f->node, "alpha", 1.0);
    hg_lane_id scaled = hg_lane_2(f->b, HG_LANE_MUL, x, hg_formula_number(f, x, alpha));
    return hg_lane_2(f->b, HG_LANE_MUL, x, hg_lane_1(f->b, HG_LANE_SIGMOID, scaled));
}

hg_lane_id hg_formula_chain(hg_formula *f, hg_lane_opcode op, const hg_lane_id *in)
{
    hg_lane_id y = in[0];
    for (uint32_t i = 1; i < f->n_in; i++)
        y = hg_lane_2(f->b, op, y, in[i]);
    return y;
}

hg_lane_id hg_formula_not(hg_formula *f, hg_lane_id x)
{
    return hg_lane_2(f->b, HG_LANE_XOR, x, hg_lane_const_i(f->b, HG_LANE_I32, 1));
}

hg_lane_id hg_formula_convert(hg_formula *f, hg_lane_id x, holo_dtype to)
{
    if (to == HOLO_BOOL) {
        hg_lane_id zero = hg_formula_number(f, x, 0.0);
        return hg_formula_not(f, hg_lane_2(f->b, HG_LANE_EQ, x, zero));
    }
    hg_lane_type from = hg_lane_typeof(f->b, x);
    bool is_float = from == HG_LANE_F32 || from == HG_LANE_F64;
    /* A negative float keeps its low bits, as in every other integer type. */
    if (to == HOLO_U32 && is_float) x = hg_lane_cast(f->b, x, HG_LANE_I64);
    return hg_lane_cast(f->b, x, hg_lane_type_of(to));
}
