/* qlinearaveragepool.c - com.microsoft:QLinearAveragePool: means of windows of 8-bit codes,
 * on the numbers behind them. */
#include "op/op_qlinear.h"

static holo_status qlinearaveragepool_infer(hg_infer *n)
{
    return hg_qlinear_pool_infer(n, "AveragePool");
}

static holo_status qlinearaveragepool_lower(hg_build *b)
{
    return hg_qlinear_pool_lower(b, "AveragePool");
}

const hg_op hg_op_microsoft_qlinearaveragepool = {
    .name = "QLinearAveragePool",
    .domain = "com.microsoft",
    .brief = "means of windows of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = qlinearaveragepool_infer,
    .lower = qlinearaveragepool_lower,
};
