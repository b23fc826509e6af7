/* qlinearadd.c - com.microsoft:QLinearAdd: sum of 8-bit codes, on the numbers behind them. */
#include "op/op_qlinear.h"

static holo_status qlinearadd_lower(hg_build *b)
{
    return hg_qlinear_binary_lower(b, "Add");
}

const hg_op hg_op_microsoft_qlinearadd = {
    .name = "QLinearAdd",
    .domain = "com.microsoft",
    .brief = "sum of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {7, 8},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = hg_qlinear_binary_infer,
    .lower = qlinearadd_lower,
};
