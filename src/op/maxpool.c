/* maxpool.c - MaxPool: the largest element of each window, and where it was. */
#include "op/op_pool.h"

static holo_status maxpool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status maxpool_emit(hg_emit *e)
{
    return hg_pool_emit(e, HG_POOL_MAX, HG_POOL_NCHW);
}

const hg_op hg_op_maxpool = {
    .name = "MaxPool",
    .brief = "the largest element of each window, and where it was",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8),
    .infer = maxpool_infer,
    .kernel = "pool",
    .emit = maxpool_emit,
};
