/* qlinearleakyrelu.c - com.microsoft:QLinearLeakyRelu: LeakyRelu of 8-bit codes, on the numbers
 * behind them. */
#include "op/op_qlinear.h"

static holo_status qlinearleakyrelu_infer(hg_infer *n)
{
    double alpha;
    HG_TRY(hg_attr_float(n, "alpha", 0.01, &alpha));
    return hg_qlinear_infer(n);
}

static holo_status qlinearleakyrelu_lower(hg_build *b)
{
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, 0))->dtype;
    hg_attr alpha = hg_attr_make_float("alpha", hg_node_float(b->node, "alpha", 0.01));
    hg_value_id x = hg_build_dequantized(b, 0);
    hg_value_id y = hg_build_op(b, "LeakyRelu", &x, 1, &alpha, 1);
    hg_build_replace(b, 0, hg_build_quantized(b, y, 3, dtype));
    return b->status;
}

const hg_op hg_op_microsoft_qlinearleakyrelu = {
    .name = "QLinearLeakyRelu",
    .domain = "com.microsoft",
    .brief = "LeakyRelu of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = qlinearleakyrelu_infer,
    .lower = qlinearleakyrelu_lower,
};
