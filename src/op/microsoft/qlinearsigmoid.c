/* qlinearsigmoid.c - com.microsoft:QLinearSigmoid: Sigmoid of 8-bit codes, on the numbers behind.
 */
#include "op/op_qlinear.h"

static holo_status qlinearsigmoid_lower(hg_build *b)
{
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, 0))->dtype;
    hg_value_id y = hg_build_1(b, "Sigmoid", hg_build_dequantized(b, 0));
    hg_build_replace(b, 0, hg_build_quantized(b, y, 3, dtype));
    return b->status;
}

const hg_op hg_op_microsoft_qlinearsigmoid = {
    .name = "QLinearSigmoid",
    .domain = "com.microsoft",
    .brief = "Sigmoid of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = hg_qlinear_infer,
    .lower = qlinearsigmoid_lower,
};
