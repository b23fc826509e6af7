/* qlinearmul.c - com.microsoft:QLinearMul: product of 8-bit codes, on the numbers behind them. */
#include "op/op_qlinear.h"

static holo_status qlinearmul_lower(hg_build *b)
{
    return hg_qlinear_binary_lower(b, "Mul");
}

const hg_op hg_op_microsoft_qlinearmul = {
    .name = "QLinearMul",
    .domain = "com.microsoft",
    .brief = "product of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {7, 8},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = hg_qlinear_binary_infer,
    .lower = qlinearmul_lower,
};
