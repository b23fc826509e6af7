/* simplifiedlayernormalization.c - SimplifiedLayerNormalization: x over the root of its mean
 * square over the last axes, then scale. Not of ONNX, but exporters write it there. */
#include "op/op_norm.h"

const hg_op hg_op_simplifiedlayernormalization = {
    .name = "SimplifiedLayerNormalization",
    .brief = "x over the root of its mean square over the last axes, then scale",
    .since = 1,
    .in = {2, 2},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT,
    .infer = hg_norm_simplified_infer,
    .lower = hg_norm_simplified_lower,
};
