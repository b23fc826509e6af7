/* tree.c - holo:Tree: scores of rows by decision trees, whose tables are inputs (kernel/tree.c).
 * Attributes: targets, aggregate, start (bits of the float64 score before the first vote). */
#include "op/op.h"

static holo_status tree_infer(hg_infer *n)
{
    int64_t targets;
    HG_TRY(hg_attr_int(n, "targets", 1, &targets));
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    n->out[0] = *n->in[0];
    n->out[0].dim[1] = hg_dim_const(n->dims, targets);
    return HOLO_OK;
}

static holo_status tree_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "aggregate", 1)));
    return hg_emit_int(e, hg_node_int(e->node, "start", 0));
}

const hg_op hg_op_internal_tree = {
    .name = "Tree",
    .domain = "holo",
    .brief = "scores of rows by decision trees",
    .since = 1,
    .in = {7, 11},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = tree_infer,
    .kernel = "tree",
    .emit = tree_emit,
};
