/* infer_shapes.c - types and shapes of every value, as expressions; composite operators are
 * rewritten on the way, since their rewrites need the shapes of what is before them and give those
 * after them. */
#include "pass/pass.h"

static bool infer_is_used(const hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0 && hg_graph_value(g, n->out[j])->n_uses != 0) return true;
    return false;
}

/* *declined: the operator has a kernel for this case and left the node as it is. */
static holo_status infer_lower(hg_graph *g, hg_node_id id, bool *declined)
{
    hg_build b;
    hg_build_init(&b, g, id);
    bool was_used = infer_is_used(g, id);
    HG_TRY(b.node->op->lower(&b));
    HG_TRY(b.status);
    const hg_op *op = hg_graph_node(g, id)->op;
    *declined = was_used && infer_is_used(g, id);
    if (*declined && op->kernel == NULL && op->emit == NULL && op->lane == NULL)
        return hg_build_fail(&b, HOLO_E_UNSUPPORTED, "an output of this operator is not supported");
    if (!*declined) hg_graph_remove_node(g, id);
    return HOLO_OK;
}

/* Lowered nodes stand before the one they replace and may be composite themselves: they are visited
 * again, so rewriting ends because every rewrite uses simpler operators. */
static holo_status infer_run(hg_graph *g, bool *changed)
{
    hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first;
    while (id != 0) {
        hg_node_id prev = hg_graph_node(g, id)->prev;
        bool declined = true;
        HG_TRY(hg_op_infer(g, id));
        if (hg_graph_node(g, id)->op->lower != NULL) HG_TRY(infer_lower(g, id, &declined));
        *changed |= !declined;
        if (declined)
            id = hg_graph_node(g, id)->next;
        else
            id = prev == 0 ? hg_graph_region(g, HG_REGION_MAIN)->first
                           : hg_graph_node(g, prev)->next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_infer_shapes = {
    .name = "infer_shapes",
    .brief = "types and symbolic shapes of all values; composite operators become simple ones",
    .flags = HG_PASS_ALWAYS,
    .run = infer_run,
};
