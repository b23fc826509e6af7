/* cumsum.c - CumSum: running sums along one axis. */
#include "op/op.h"
#include "op/op_shape.h"

static holo_status cumsum_infer(hg_infer *n)
{
    const hg_dim *axis;
    uint32_t count;
    int64_t exclusive, reverse;
    hg_axes axes;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_need_content(n, 1, &axis, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "axis has %u elements, expected 1", count);
    HG_TRY(hg_shape_axes(n, axis, 1, n->in[0]->rank, &axes));
    HG_TRY(hg_attr_int(n, "exclusive", 0, &exclusive));
    HG_TRY(hg_attr_int(n, "reverse", 0, &reverse));
    return hg_infer_same_as_input(n);
}

static holo_status cumsum_emit(hg_emit *e)
{
    const hg_dim *axis;
    uint32_t count;
    HG_TRY(hg_emit_content(e, 1, &axis, &count));
    e->n_in = 1;
    HG_TRY(hg_emit_dim(e, hg_shape_axis(&e->g->dims, axis[0], hg_emit_type(e, 0)->rank)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "exclusive", 0) != 0));
    return hg_emit_int(e, hg_node_int(e->node, "reverse", 0) != 0);
}

const hg_op hg_op_cumsum = {
    .name = "CumSum",
    .brief = "running sums along one axis",
    .since = 11,
    .version = 14,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) |
             HG_TYPE_BIT(HOLO_U32) | HG_TYPE_BIT(HOLO_U64),
    .infer = cumsum_infer,
    .kernel = "cumsum",
    .emit = cumsum_emit,
};
