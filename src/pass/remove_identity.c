/* remove_identity.c - nodes that give back their input: Identity, casts to the same type, reshapes
 * to the same shape, Expand, Tile or Concat that change nothing. */
#include "pass/pass.h"

static bool identity_is(const hg_graph *g, const hg_node *n)
{
    static const char *const names[] = {"Identity", "Cast",      "Reshape",  "Flatten", "Squeeze",
                                        "Expand",   "Unsqueeze", "CastLike", "Tile"};
    if (n->n_out != 1 || n->out[0] == 0 || hg_node_in(g, n, 0) == 0) return false;
    bool named = hg_op_is(n, "Concat") && n->n_in == 1;
    for (size_t i = 0; i < HG_COUNT(names) && !named; i++)
        named = hg_op_is(n, names[i]);
    return named && hg_type_equal(&hg_graph_value(g, hg_node_in(g, n, 0))->type,
                                  &hg_graph_value(g, n->out[0])->type);
}

static holo_status identity_run(hg_graph *g, bool *changed)
{
    if ((g->ctx->flags & HOLO_COMPILE_KEEP_VALUES) != 0) return HOLO_OK;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        hg_node_id next = n->next;
        if (identity_is(g, n)) {
            hg_graph_replace_uses(g, n->out[0], hg_node_in(g, n, 0));
            hg_graph_remove_node(g, id);
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_remove_identity = {
    .name = "remove_identity",
    .brief = "removes nodes that give back their input",
    .run = identity_run,
};
