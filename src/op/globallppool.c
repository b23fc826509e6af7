/* globallppool.c - GlobalLpPool: the p-norm of each channel. */
#include "op/op_globalpool.h"
#include "op/op_upgrade.h"

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
    .upgrade = hg_upgrade_norm,
    .infer = globallppool_infer,
    .lower = globallppool_lower,
};
