/* gelu.c - com.microsoft:Gelu: the Gelu of ONNX without its approximation. */
#include "op/op.h"

static holo_status gelu_microsoft_lower(hg_build *b)
{
    hg_build_replace(b, 0, hg_build_1(b, "Gelu", hg_build_in(b, 0)));
    return b->status;
}

const hg_op hg_op_microsoft_gelu = {
    .name = "Gelu",
    .domain = "com.microsoft",
    .brief = "y = x (1 + erf(x / sqrt 2)) / 2",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_same_as_input,
    .lower = gelu_microsoft_lower,
};
