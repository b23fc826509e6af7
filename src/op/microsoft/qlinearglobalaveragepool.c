/* qlinearglobalaveragepool.c - com.microsoft:QLinearGlobalAveragePool: means of channels of 8-bit
 * codes, on the numbers behind them. */
#include "op/op_qlinear.h"

static holo_status qlinearglobalaveragepool_infer(hg_infer *n)
{
    return hg_qlinear_pool_infer(n, "GlobalAveragePool");
}

static holo_status qlinearglobalaveragepool_lower(hg_build *b)
{
    return hg_qlinear_pool_lower(b, "GlobalAveragePool");
}

const hg_op hg_op_microsoft_qlinearglobalaveragepool = {
    .name = "QLinearGlobalAveragePool",
    .domain = "com.microsoft",
    .brief = "means of channels of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = qlinearglobalaveragepool_infer,
    .lower = qlinearglobalaveragepool_lower,
};
