/* poolnhwc.c - holo:PoolNhwc: pooling, channels last. Attributes are those of the pool it replaces,
 * and "mode" (hg_pool_mode). */
#include "op/op_pool.h"

static holo_status poolnhwc_infer(hg_infer *n)
{
    int64_t mode;
    HG_TRY(hg_attr_int(n, "mode", HG_POOL_MAX, &mode));
    if (mode < HG_POOL_MAX || mode > HG_POOL_LP)
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is %lld, expected %d to %d", (long long)mode,
                             HG_POOL_MAX, HG_POOL_LP);
    return hg_pool_infer(n, HG_POOL_NHWC);
}

static holo_status poolnhwc_emit(hg_emit *e)
{
    int64_t mode = hg_node_int(e->node, "mode", HG_POOL_MAX);
    return hg_pool_emit(e, (hg_pool_mode)mode, HG_POOL_NHWC);
}

const hg_op hg_op_internal_poolnhwc = {
    .name = "PoolNhwc",
    .domain = "holo",
    .brief = "pooling, channels last",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8),
    .flags = HG_OP_INTERNAL,
    .infer = poolnhwc_infer,
    .kernel = "pool",
    .emit = poolnhwc_emit,
};
