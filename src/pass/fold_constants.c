/* fold_constants.c - nodes whose inputs are constants become constants.
 *
 * Two rules keep files small: a result may not be larger than its inputs by more than 64 KiB (fp16
 * weights stay fp16 behind their Cast, Expand of a scalar stays an Expand), and large constants
 * that only one packing would read are left to the packing. The first does not hold on the way to
 * an operator with HG_OP_WIDE_WEIGHTS: 8-bit weights of recurrent layers; nor from integers to one
 * with HG_OP_WIDE_CODES: 8-bit weights of convolutions, which every run would pack anew. */
#include "eval/eval.h"
#include "pass/pass.h"

enum { FOLD_SLACK = 64 * 1024, FOLD_WAY = 8 };

static size_t fold_input_bytes(const hg_graph *g, const hg_node *n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        hg_value_id v = hg_node_in(g, n, i);
        if (v != 0) total += hg_graph_value(g, v)->constant->bytes;
    }
    return total;
}

static bool fold_is_from_codes(const hg_graph *g, const hg_node *n)
{
    return hg_op_is(n, "Cast") &&
           (HG_TYPES_INT & HG_TYPE_BIT(hg_graph_value(g, hg_node_in(g, n, 0))->type.dtype)) != 0;
}

/* What the node computes is read by such an operator alone, a few nodes on. */
static bool fold_is_wide_weight(const hg_graph *g, hg_node_id id)
{
    const bool is_from_codes = fold_is_from_codes(g, hg_graph_node(g, id));
    for (int i = 0; i < FOLD_WAY; i++) {
        const hg_node *n = hg_graph_node(g, id);
        if (n->n_out != 1) return false;
        id = hg_graph_only_user(g, n->out[0]);
        if (id == 0) return false;
        const hg_node *reader = hg_graph_node(g, id);
        if ((reader->op->flags & HG_OP_WIDE_WEIGHTS) != 0) return true;
        if ((reader->op->flags & HG_OP_WIDE_CODES) != 0)
            return is_from_codes && hg_node_in(g, reader, 1) == n->out[0];
    }
    return false;
}

/* Not worth it: too large, or only known when data are read. */
static holo_status fold_wants(hg_graph *g, hg_node_id id, bool *wanted)
{
    const hg_node *n = hg_graph_node(g, id);
    *wanted = false;
    if ((n->op->flags & HG_OP_AT_WRITE) != 0 || !hg_eval_can(g, id)) return HOLO_OK;
    size_t bytes = 0, all = 0;
    for (uint32_t j = 0; j < n->n_out; j++) {
        if (n->out[j] == 0) continue;
        HG_TRY(hg_eval_bytes(g, id, j, &bytes));
        if (!hg_add_size(all, bytes, &all)) return HOLO_OK;
    }
    size_t in = fold_input_bytes(g, n);
    *wanted = all <= in || all - in <= FOLD_SLACK || fold_is_wide_weight(g, id);
    return HOLO_OK;
}

holo_status hg_fold_node(hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    void **out;
    size_t *bytes;
    HG_TRY(HG_NEW(g->ctx, n->n_out + 1, &out));
    HG_TRY(HG_NEW(g->ctx, n->n_out + 1, &bytes));
    for (uint32_t j = 0; j < n->n_out; j++) {
        if (n->out[j] == 0) continue;
        HG_TRY(hg_eval_bytes(g, id, j, &bytes[j]));
        out[j] = hg_arena_alloc(&g->ctx->arena, bytes[j] + 1);
        if (out[j] == NULL) return hg_fail_nomem(g->ctx->error, bytes[j]);
    }
    HG_TRY(hg_eval_run(g, id, out));
    for (uint32_t j = 0; j < hg_graph_node(g, id)->n_out; j++) {
        hg_value_id old = hg_graph_node(g, id)->out[j], made;
        if (old == 0) continue;
        HG_TRY(hg_graph_add_const(g, hg_graph_value(g, old)->name, hg_graph_value(g, old)->type,
                                  out[j], bytes[j], &made));
        hg_graph_replace_uses(g, old, made);
    }
    hg_graph_remove_node(g, id);
    return HOLO_OK;
}

static holo_status fold_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        hg_node_id next = hg_graph_node(g, id)->next;
        bool wanted;
        HG_TRY(fold_wants(g, id, &wanted));
        if (wanted) {
            HG_TRY(hg_fold_node(g, id));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fold_constants = {
    .name = "fold_constants",
    .brief = "computes constant regions now",
    .run = fold_run,
};
