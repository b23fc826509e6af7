/* remove_identity.c - nodes that give back their input: Identity, casts to the same type, reshapes
 * to the same shape, Expand, Tile, Concat, Slice or Pad that change nothing. */
#include "pass/pass.h"

/* Steps of 1: then a result as large as the input is the input. */
static bool identity_is_slice(hg_graph *g, const hg_node *n)
{
    const hg_value_id steps = hg_node_in(g, n, 4);
    const int64_t *step;
    size_t count;
    if (!hg_op_is(n, "Slice")) return false;
    if (steps == 0) return true;
    if (!hg_graph_const_ints(g, steps, &step, &count)) return false;
    for (size_t i = 0; i < count; i++)
        if (step[i] != 1) return false;
    return true;
}

/* Nothing on any side; -1 and 1 would give the same size. */
static bool identity_is_pad(hg_graph *g, const hg_node *n)
{
    const int64_t *pads;
    size_t count;
    if (!hg_op_is(n, "Pad") || !hg_graph_const_ints(g, hg_node_in(g, n, 1), &pads, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (pads[i] != 0) return false;
    return true;
}

static bool identity_is(hg_graph *g, const hg_node *n)
{
    static const char *const names[] = {"Identity", "Cast",      "Reshape",  "Flatten", "Squeeze",
                                        "Expand",   "Unsqueeze", "CastLike", "Tile"};
    if (n->n_out != 1 || n->out[0] == 0 || hg_node_in(g, n, 0) == 0) return false;
    bool named =
        (hg_op_is(n, "Concat") && n->n_in == 1) || identity_is_slice(g, n) || identity_is_pad(g, n);
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
