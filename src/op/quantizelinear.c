/* quantizelinear.c - QuantizeLinear: y = saturate(round(x / scale) + zero_point). */
#include "op/op.h"
#include "op/op_quantize.h"
#include "op/op_upgrade.h"

#define QUANTIZE_FLOATS (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))
#define QUANTIZE_INTS                                                                              \
    (HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_U16) | \
     HG_TYPE_BIT(HOLO_I4) | HG_TYPE_BIT(HOLO_U4) | HG_TYPE_BIT(HOLO_I2) | HG_TYPE_BIT(HOLO_U2))
#define QUANTIZE_TYPES (QUANTIZE_INTS | HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F4E2M1))

static holo_status quantizelinear_infer(hg_infer *n)
{
    int64_t to, precision;
    HG_TRY(
        hg_infer_types(n, 1, QUANTIZE_FLOATS | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_F8E8M0)));
    HG_TRY(hg_quantize_check(n));
    HG_TRY(hg_attr_int(n, "output_dtype", 0, &to));
    HG_TRY(hg_attr_int(n, "precision", 0, &precision));
    if (precision != 0 && (precision < 0 || precision > HOLO_BF16 ||
                           !hg_dtype_in((holo_dtype)precision, HG_TYPES_FLOAT)))
        return hg_infer_fail(n, HOLO_E_MODEL, "precision is %lld, expected a float type",
                             (long long)precision);
    holo_dtype zero = hg_infer_has(n, 2) ? n->in[2]->dtype : HOLO_NONE;
    if (to != 0 && zero != HOLO_NONE && to != (int64_t)zero)
        return hg_infer_fail(n, HOLO_E_TYPE, "output_dtype is %lld, but the zero point is %s",
                             (long long)to, holo_dtype_text(zero));
    if (to == 0) to = zero == HOLO_NONE ? HOLO_U8 : (int64_t)zero;
    if (to < 0 || to >= HOLO_SEQUENCE || !hg_dtype_in((holo_dtype)to, QUANTIZE_TYPES))
        return hg_infer_fail(n, HOLO_E_TYPE,
                             "the result would have type %lld, which is not one of "
                             "the quantized types",
                             (long long)to);
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

/* Type of the division: the scale's unless the node says otherwise. */
static holo_dtype quantizelinear_precision(const hg_build *b)
{
    holo_dtype asked = (holo_dtype)hg_node_int(b->node, "precision", 0);
    holo_dtype scale = hg_build_type(b, hg_build_in(b, 1))->dtype;
    if (asked != HOLO_NONE) return asked;
    return hg_dtype_in(scale, QUANTIZE_FLOATS) ? scale : HOLO_F32;
}

/* The integers of the type all fit f32 exactly, so that sum and clamp are exact there. */
static hg_value_id quantizelinear_clip(hg_build *b, hg_value_id y, holo_dtype to)
{
    double range = (double)(INT64_C(1) << hg_dtype_bits(to));
    bool is_signed = hg_dtype_in(to, HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_I16) |
                                         HG_TYPE_BIT(HOLO_I4) | HG_TYPE_BIT(HOLO_I2));
    double low = is_signed ? -range / 2 : 0.0;
    return hg_build_3(b, "Clip", y, hg_build_scalar(b, HOLO_F32, low),
                      hg_build_scalar(b, HOLO_F32, low + range - 1));
}

static holo_status quantizelinear_lower(hg_build *b)
{
    holo_dtype to = hg_graph_value(b->g, b->node->out[0])->type.dtype;
    holo_dtype precision = quantizelinear_precision(b);
    hg_value_id scale = hg_quantize_spread(b, hg_build_in(b, 1)), zero = hg_build_in(b, 2);
    hg_value_id y = hg_build_cast(b, hg_build_in(b, 0), precision);
    y = hg_build_2(b, "Div", y, hg_build_cast(b, scale, precision));
    bool is_int = hg_dtype_in(to, QUANTIZE_INTS);
    if (is_int) y = hg_build_1(b, "Round", y);
    y = hg_build_cast(b, y, HOLO_F32);
    /* 0 adds nothing, but that -0 would become 0: both are the same integer */
    if (zero != 0 && !(is_int && hg_graph_const_is_zero(b->g, zero)))
        y = hg_build_2(b, "Add", y, hg_quantize_spread(b, hg_build_cast(b, zero, HOLO_F32)));
    if (is_int) y = quantizelinear_clip(b, y, to);
    hg_attr attr[] = {hg_attr_make_int("to", (int64_t)to),
                      hg_attr_make_int("saturate", hg_node_int(b->node, "saturate", 1))};
    hg_build_replace(b, 0, hg_build_op(b, "Cast", &y, 1, attr, HG_COUNT(attr)));
    return b->status;
}

const hg_op hg_op_quantizelinear = {
    .name = "QuantizeLinear",
    .brief = "y = saturate(round(x / scale) + zero_point)",
    .since = 10,
    .version = 25,
    .in = {2, 3},
    .out = {1, 1},
    .types = QUANTIZE_FLOATS | HG_TYPE_BIT(HOLO_I32),
    .infer = quantizelinear_infer,
    .lower = quantizelinear_lower,
};
