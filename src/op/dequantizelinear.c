/* dequantizelinear.c - DequantizeLinear: y = (x - zero_point) scale, computed in f32. */
#include "op/op.h"
#include "op/op_quantize.h"

#define DEQUANTIZE_SCALES (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))

static holo_status dequantizelinear_infer(hg_infer *n)
{
    int64_t to;
    HG_TRY(hg_infer_types(n, 1, DEQUANTIZE_SCALES | HG_TYPE_BIT(HOLO_F8E8M0)));
    if (hg_infer_has(n, 2)) HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(hg_quantize_check(n));
    HG_TRY(hg_attr_int(n, "output_dtype", 0, &to));
    if (to == 0) to = (int64_t)n->in[1]->dtype;
    if (to < 0 || to > HOLO_BF16 || !hg_dtype_in((holo_dtype)to, DEQUANTIZE_SCALES))
        return hg_infer_fail(n, HOLO_E_TYPE,
                             "the result would have type %lld, expected float32, float16 or "
                             "bfloat16; set output_dtype",
                             (long long)to);
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

static holo_status dequantizelinear_lower(hg_build *b)
{
    hg_value_id zero = hg_build_in(b, 2);
    holo_dtype to = hg_graph_value(b->g, b->node->out[0])->type.dtype;
    hg_value_id y = hg_build_cast(b, hg_build_in(b, 0), HOLO_F32);
    if (zero != 0 && !hg_graph_const_is_zero(b->g, zero))
        y = hg_build_2(b, "Sub", y, hg_quantize_spread(b, hg_build_cast(b, zero, HOLO_F32)));
    hg_value_id scale = hg_quantize_spread(b, hg_build_in(b, 1));
    y = hg_build_2(b, "Mul", y, hg_build_cast(b, scale, HOLO_F32));
    hg_build_replace(b, 0, hg_build_cast(b, y, to));
    return b->status;
}

const hg_op hg_op_dequantizelinear = {
    .name = "DequantizeLinear",
    .brief = "y = (x - zero_point) scale",
    .since = 10,
    .version = 25,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I16) |
             HG_TYPE_BIT(HOLO_U16) | HG_TYPE_BIT(HOLO_I32) |
             (HG_TYPES_NARROW & ~HG_TYPE_BIT(HOLO_F8E8M0)),
    .infer = dequantizelinear_infer,
    .lower = dequantizelinear_lower,
};
