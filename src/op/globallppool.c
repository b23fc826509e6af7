/* globallppool.c - GlobalLpPool: the p-norm of each channel. */
#include "op/op_globalpool.h"

/* GlobalLpPool-1: p is a float. */
static holo_status globallppool_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    const hg_attr *p = hg_node_attr(hg_graph_node(g, id), "p");
    if (opset >= 2 || p == NULL || p->kind != HG_ATTR_FLOAT) return HOLO_OK;
    return hg_graph_set_attr(g, id, hg_attr_make_int("p", (int64_t)p->f));
}

static holo_status globallppool_infer(hg_infer *n)
{
    int64_t p;
    HG_TRY(hg_attr_int(n, "p", 2, &p));
    if (p < 1)
        return hg_infer_fail(n, HOLO_E_MODEL, "p is %lld, expected at least 1", (long long)p);
    return hg_globalpool_infer(n);
}

static holo_status globallppool_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    hg_build_replace(
        b, 0, hg_build_norm(b, x, hg_node_int(b->node, "p", 2), 2, hg_build_type(b, x)->rank));
    return b->status;
}

const hg_op hg_op_globallppool = {
    .name = "GlobalLpPool",
    .brief = "the p-norm of each channel",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = globallppool_upgrade,
    .infer = globallppool_infer,
    .lower = globallppool_lower,
};
