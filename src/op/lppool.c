/* lppool.c - LpPool: the p-norm of each window. */
#include "op/op_pool.h"

/* LpPool-1: p is a float. */
static holo_status lppool_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_attr *p = hg_node_attr(hg_graph_node(g, id), "p");
    if (opset >= 2 || p == NULL || p->kind != HG_ATTR_FLOAT) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_int("p", (int64_t)p->f));
}

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
    .upgrade = lppool_upgrade,
    .infer = lppool_infer,
    .kernel = "pool",
    .emit = lppool_emit,
};
