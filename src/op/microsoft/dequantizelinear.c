/* dequantizelinear.c - com.microsoft:DequantizeLinear: that of ONNX, for types that it got later.
 */
#include "op/op_quantize.h"

static holo_status dequantizelinear_microsoft_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    if (hg_infer_has(n, 2)) HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(hg_quantize_check(n));
    n->out[0] = *n->in[0];
    n->out[0].dtype = n->in[1]->dtype;
    return HOLO_OK;
}

const hg_op hg_op_microsoft_dequantizelinear = {
    .name = "DequantizeLinear",
    .domain = "com.microsoft",
    .brief = "y = (x - zero_point) scale",
    .since = 1,
    .version = HG_QUANTIZE_UPGRADED,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I16) |
             HG_TYPE_BIT(HOLO_U16) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I4) |
             HG_TYPE_BIT(HOLO_U4),
    .upgrade = hg_quantize_upgrade,
    .infer = dequantizelinear_microsoft_infer,
    .lower = hg_quantize_rewrite,
};
