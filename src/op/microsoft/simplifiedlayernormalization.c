/* simplifiedlayernormalization.c - com.microsoft:SimplifiedLayerNormalization: x over the root of
 * its mean square over the last axes, then scale. */
#include "op/op_norm.h"

const hg_op hg_op_microsoft_simplifiedlayernormalization = {
    .name = "SimplifiedLayerNormalization",
    .domain = "com.microsoft",
    .brief = "x over the root of its mean square over the last axes, then scale",
    .since = 1,
    .in = {2, 2},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT,
    .infer = hg_norm_simplified_infer,
    .lower = hg_norm_simplified_lower,
};
