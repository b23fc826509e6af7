/* dynamicquantize.c - holo:DynamicQuantize: 8-bit codes, scale and zero point for given bounds. */
#include "op/op.h"

static holo_status dynamicquantize_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_infer_rank(n, 1, 2, 2));
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_U8;
    n->out[1] = (hg_type){.dtype = HOLO_F32};
    n->out[2] = (hg_type){.dtype = HOLO_U8};
    return HOLO_OK;
}

const hg_op hg_op_internal_dynamicquantize = {
    .name = "DynamicQuantize",
    .domain = "holo",
    .brief = "8-bit codes, scale and zero point for given bounds",
    .since = 1,
    .in = {2, 2},
    .out = {3, 3},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = dynamicquantize_infer,
    .kernel = "quantize.dynamic",
};
