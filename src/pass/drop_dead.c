/* drop_dead.c - removes nodes whose results nobody uses. */
#include "pass/pass.h"

static bool dead_is(const hg_graph *g, const hg_node *n)
{
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0 && hg_graph_value(g, n->out[j])->n_uses != 0) return false;
    return true;
}

/* Sizes may be read from a value that no node uses any more. */
static holo_status dead_mark_symbols(hg_graph *g, bool *keep)
{
    for (size_t i = 0; i < g->dims.n_symbol; i++)
        if (g->dims.symbol[i].kind != HG_SYMBOL_INPUT) keep[g->dims.symbol[i].value] = true;
    return HOLO_OK;
}

static holo_status dead_run(hg_graph *g, bool *changed)
{
    bool *keep;
    HG_TRY(HG_NEW(g->ctx, g->n_value, &keep));
    HG_TRY(dead_mark_symbols(g, keep));
    for (hg_region_id r = HG_REGION_MAIN; r < g->n_region; r++) {
        for (hg_node_id id = hg_graph_region(g, r)->last; id != 0;) {
            const hg_node *n = hg_graph_node(g, id);
            hg_node_id prev = n->prev;
            bool kept = false;
            for (uint32_t j = 0; j < n->n_out; j++)
                kept |= n->out[j] != 0 && keep[n->out[j]];
            if (!kept && dead_is(g, n)) {
                hg_graph_remove_node(g, id);
                *changed = true;
            }
            id = prev;
        }
    }
    return HOLO_OK;
}

const hg_pass hg_pass_drop_dead = {
    .name = "drop_dead",
    .brief = "removes nodes whose results nobody uses",
    .run = dead_run,
};
