/* upgrade.c - nodes of older opsets get their current meaning.
 *
 * An upgrade may ask for the types of its inputs, and the nodes it makes are inferred as they are
 * made. So the graph is walked in order and inferred up to the last node that needs one; models of
 * the current opset are not walked at all. */
#include "import/onnx/importer.h"

typedef struct upgrade_state {
    hg_importer *im;
    int32_t *opset; /* by node: 0 when nothing is to be done */
    size_t n_node;  /* those that were imported */
    size_t left;
} upgrade_state;

/* Quietly: an upgrade that needs a type which is not known says so, and the pass reports the rest.
 */
static holo_status upgrade_infer(upgrade_state *u, hg_node_id id)
{
    hg_ctx *ctx = u->im->ctx;
    holo_error *error = ctx->error;
    ctx->error = NULL;
    const holo_status status = hg_op_infer(u->im->g, id);
    ctx->error = error;
    return status == HOLO_E_NOMEM ? hg_fail_nomem(error, sizeof(hg_type)) : HOLO_OK;
}

static bool upgrade_is_used(const hg_graph *g, hg_node_id id)
{
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != 0 && hg_graph_value(g, n->out[i])->n_uses != 0) return true;
    return false;
}

/* A node that was replaced, or that nobody needed, goes: its old meaning is no longer known. */
static holo_status upgrade_node(upgrade_state *u, hg_node_id id)
{
    hg_graph *g = u->im->g;
    if (id >= u->n_node || u->opset[id] == 0) return upgrade_infer(u, id);
    const int32_t opset = u->opset[id];
    u->opset[id] = 0;
    u->left--;
    HG_TRY(hg_graph_node(g, id)->op->upgrade(g, id, opset));
    if (hg_graph_node(g, id)->region == 0) return HOLO_OK;
    if (upgrade_is_used(g, id)) return upgrade_infer(u, id);
    hg_graph_remove_node(g, id);
    return HOLO_OK;
}

/* Bodies before the node they belong to; the depth is that of the import, which is bounded. */
static holo_status upgrade_region(upgrade_state *u, hg_region_id region)
{
    hg_graph *g = u->im->g;
    hg_node_id next;
    for (hg_node_id id = hg_graph_region(g, region)->first; id != 0 && u->left > 0; id = next) {
        for (uint32_t i = 0; i < hg_graph_node(g, id)->n_body; i++)
            HG_TRY(upgrade_region(u, hg_graph_node(g, id)->body[i]));
        next = hg_graph_node(g, id)->next; /* new nodes come before it and are inferred */
        HG_TRY(upgrade_node(u, id));
    }
    return HOLO_OK;
}

holo_status hg_import_upgrade(hg_importer *im)
{
    upgrade_state u = {.im = im, .n_node = im->g->n_node, .left = im->n_pending};
    if (im->n_pending == 0) return HOLO_OK;
    u.opset = hg_arena_array(&im->ctx->scratch, u.n_node, sizeof *u.opset);
    if (u.opset == NULL) return hg_fail_nomem(im->ctx->error, u.n_node);
    for (size_t i = 0; i < im->n_pending; i++)
        u.opset[im->pending[i].node] = im->pending[i].opset;
    return upgrade_region(&u, HG_REGION_MAIN);
}
