/* layernormalization.c - LayerNormalization: zero mean and unit variance over the last axes, then
 * scale and bias. */
#include "op/op_norm.h"

static holo_status layernormalization_lower(hg_build *b)
{
    return hg_norm_lower(b, HG_NORM_LAYER);
}

static holo_status layernormalization_emit(hg_emit *e)
{
    return hg_norm_emit(e, HG_NORM_LAYER);
}

static holo_status layernormalization_gradient(hg_gradient *d)
{
    return hg_norm_gradient(d, HG_NORM_LAYER);
}

const hg_op hg_op_layernormalization = {
    .name = "LayerNormalization",
    .brief = "zero mean and unit variance over the last axes, then scale and bias",
    .since = 17,
    .flags = HG_OP_ANY_OPSET,
    .in = {2, 3},
    .out = {1, 3},
    .types = HG_TYPES_FLOAT,
    .infer = hg_norm_infer,
    .lower = layernormalization_lower,
    .kernel = "layernorm",
    .emit = layernormalization_emit,
    .gradient = layernormalization_gradient,
};
