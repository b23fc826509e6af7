/* convinteger.c - ConvInteger: the exact convolution of 8-bit tensors with zero points. */
#include "op/op_conv.h"

#define CONVINTEGER_TYPES (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8))

static holo_status convinteger_infer(hg_infer *n)
{
    hg_conv c;
    HG_TRY(hg_infer_types(n, 1, CONVINTEGER_TYPES));
    for (uint32_t i = 0; i < 2; i++) {
        if (!hg_infer_has(n, 2 + i)) continue;
        HG_TRY(hg_infer_same_type(n, i, 2 + i));
        HG_TRY(hg_infer_rank(n, 2 + i, 0, 1));
    }
    HG_TRY(hg_conv_read(n, HG_CONV_FORWARD, n->in[0], n->in[1], &c));
    n->out[0] = hg_conv_type(&c, n->in[0], HOLO_I32);
    return HOLO_OK;
}

static holo_status convinteger_emit(hg_emit *e)
{
    return hg_conv_emit(e, HG_CONV_FORWARD);
}

const hg_op hg_op_convinteger = {
    .name = "ConvInteger",
    .brief = "the exact convolution of 8-bit tensors with zero points",
    .since = 10,
    .in = {2, 4},
    .out = {1, 1},
    .types = CONVINTEGER_TYPES,
    .infer = convinteger_infer,
    .kernel = "conv.i8",
    .emit = convinteger_emit,
};
