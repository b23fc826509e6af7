/* averagepool.c - AveragePool: the mean of each window. */
#include "op/op_pool.h"

static holo_status averagepool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status averagepool_emit(hg_emit *e)
{
    bool padded = hg_node_int(e->node, "count_include_pad", 0) != 0;
    return hg_pool_emit(e, padded ? HG_POOL_AVERAGE_PADDED : HG_POOL_AVERAGE, HG_POOL_NCHW);
}

const hg_op hg_op_averagepool = {
    .name = "AveragePool",
    .brief = "the mean of each window",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = averagepool_infer,
    .kernel = "pool",
    .emit = averagepool_emit,
};
