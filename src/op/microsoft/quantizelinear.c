/* quantizelinear.c - com.microsoft:QuantizeLinear: that of ONNX, for types that it got later. */
#include "op/op_quantize.h"

static holo_status quantizelinear_microsoft_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_quantize_check(n));
    n->out[0] = *n->in[0];
    n->out[0].dtype = hg_infer_has(n, 2) ? n->in[2]->dtype : HOLO_U8;
    return HOLO_OK;
}

const hg_op hg_op_microsoft_quantizelinear = {
    .name = "QuantizeLinear",
    .domain = "com.microsoft",
    .brief = "y = saturate(round(x / scale) + zero_point)",
    .since = 1,
    .version = HG_QUANTIZE_UPGRADED,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16),
    .upgrade = hg_quantize_upgrade,
    .infer = quantizelinear_microsoft_infer,
    .lower = hg_quantize_rewrite,
};
