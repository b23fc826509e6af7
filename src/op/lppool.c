/* lppool.c - LpPool: the p-norm of each window. */
#include "op/op_pool.h"
#include "op/op_upgrade.h"

static holo_status lppool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status lppool_emit(hg_emit *e)
{
    return hg_pool_emit(e, HG_POOL_LP, HG_POOL_NCHW);
}

const hg_op hg_op_lppool = {
    .name = "LpPool",
    .brief = "the p-norm of each window",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = hg_upgrade_norm,
    .infer = lppool_infer,
    .kernel = "pool",
    .emit = lppool_emit,
};
