/* infer_shapes.c - types and shapes of every value, as expressions; composite operators are
 * rewritten on the way, since their rewrites need the shapes of what is before them and give those
 * after them. So are bodies of control flow, which become graphs of their own. */
#include "eval/eval.h"
#include "pass/outline.h"
#include "pass/pass.h"

static bool infer_is_used(const hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0 && hg_graph_value(g, n->out[j])->n_uses != 0) return true;
    return false;
}

/* A rewrite may put a body in front of other nodes, which are then inferred first. *declined: the
 * operator has a kernel for this case and left the node as it is. */
static holo_status infer_lower(hg_graph *g, hg_node_id id, bool *declined)
{
    hg_build b;
    hg_build_init(&b, g, id);
    bool was_used = infer_is_used(g, id);
    for (uint32_t i = 0; was_used && i < b.node->n_in; i++) /* by check_shapes */
        if (hg_build_in(&b, i) != 0) hg_graph_value(g, hg_build_in(&b, i))->is_asked = true;
    HG_TRY(b.node->op->lower(&b));
    HG_TRY(b.status);
    const hg_op *op = hg_graph_node(g, id)->op;
    *declined = was_used && infer_is_used(g, id);
    if (*declined && op->kernel == NULL && op->emit == NULL && op->lane == NULL)
        return hg_build_fail(&b, HOLO_E_UNSUPPORTED, "an output of this operator is not supported");
    if (!*declined) hg_graph_remove_node(g, id);
    return HOLO_OK;
}

/* A node nobody uses has no body worth looking at. */
static holo_status infer_outline(hg_graph *g, hg_node_id id)
{
    bool done = true;
    if (infer_is_used(g, id)) HG_TRY(hg_outline_node(g, id, &done));
    if (done) hg_graph_remove_node(g, id);
    return HOLO_OK;
}

static holo_status infer_node(hg_graph *g, hg_node_id id, bool *declined)
{
    *declined = true;
    if (hg_graph_node(g, id)->n_body != 0 && hg_graph_node(g, id)->op->lower == NULL) {
        *declined = false;
        return infer_outline(g, id);
    }
    const bool lowers = hg_graph_node(g, id)->op->lower != NULL;
    size_t first = g->n_demand;
    g->demand_level = lowers ? HG_DEMAND_ALL : HG_DEMAND_LASTING;
    holo_status status = hg_op_infer(g, id);
    g->demand_level = HG_DEMAND_NONE;
    if (status == HOLO_OK && lowers) status = infer_lower(g, id, declined);
    if (status != HOLO_OK) return status;
    return hg_graph_keep_demands(g, first, *declined ? HG_DEMAND_LASTING : HG_DEMAND_ALL);
}

/* A few integers that all come from constants are what later shapes, and even ranks, are made of:
 * exporters write the pads of a Pad as a Concat that is reshaped, reversed and transposed. They are
 * numbers before the next node asks. */
static bool infer_is_list(hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    int64_t elements;
    for (uint32_t j = 0; j < n->n_out; j++) {
        if (n->out[j] == 0) continue;
        const hg_type *type = &hg_graph_value(g, n->out[j])->type;
        if (type->dtype != HOLO_I64 ||
            !hg_dim_is_const(&g->dims, hg_type_count(g, type), &elements) ||
            elements > HG_MAX_CONTENT)
            return false;
    }
    return n->n_in != 0 && (n->op->flags & HG_OP_AT_WRITE) == 0 && hg_eval_can(g, id);
}

/* How many items an input has is known when it is bound. */
static holo_status infer_containers(hg_graph *g)
{
    const hg_region *r = hg_graph_region(g, HG_REGION_MAIN);
    for (uint32_t i = 0; i < r->n_in; i++) {
        hg_value *v = hg_graph_value(g, r->in[i]);
        if (!hg_type_is_container(&v->type) || v->type.rank != HG_RANK_UNKNOWN) continue;
        v->type.rank = 1;
        v->type.dim[0] = hg_dim_symbol(
            &g->dims,
            (hg_symbol){.name = hg_str_format(&g->ctx->arena, "%.*s.count", HG_STR_ARG(v->name)),
                        .kind = HG_SYMBOL_INPUT,
                        .at_most = -1});
    }
    return g->dims.failed ? hg_fail_nomem(g->ctx->error, sizeof(hg_dim_rec)) : HOLO_OK;
}

/* Lowered nodes stand before the one they replace and may be composite themselves: they are visited
 * again, so rewriting ends because every rewrite uses simpler operators. */
holo_status hg_infer_graph(hg_graph *g, bool *changed)
{
    HG_TRY(infer_containers(g));
    hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first;
    while (id != 0) {
        hg_node_id prev = hg_graph_node(g, id)->prev;
        bool declined;
        HG_TRY(hg_ctx_check_time(g->ctx));
        HG_TRY(infer_node(g, id, &declined));
        if (declined && infer_is_used(g, id) && infer_is_list(g, id)) {
            HG_TRY(hg_fold_node(g, id));
            declined = false;
        }
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
    .run = hg_infer_graph,
};
