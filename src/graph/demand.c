/* demand.c - sizes that must be equal where the compiler cannot tell.
 *
 * Kernels check what they are given, but operators that are rewritten into others lose what only
 * they ask for: a BatchNormalization needs one scale a channel, the product it becomes would also
 * take a single one. What their shape rules demand is kept beside the graph; plan makes steps of
 * it.
 */
#include "graph/operator.h"

#include <stdio.h>

/* "dimension 0 of input 1" when it is one, else the expression. */
static void demand_name(const hg_graph *g, hg_node_id id, hg_dim dim, char *text, size_t size)
{
    const hg_node *n = hg_graph_node(g, id);
    int64_t value;
    for (uint32_t i = 0; i < n->n_in && !hg_dim_is_const(&g->dims, dim, &value); i++) {
        hg_value_id v = hg_node_in(g, n, i);
        const hg_type *type = v == 0 ? NULL : &hg_graph_value(g, v)->type;
        for (int32_t k = 0; type != NULL && k < type->rank; k++) {
            if (type->dim[k] != dim) continue;
            snprintf(text, size, "dimension %d of input %u", k, i);
            return;
        }
    }
    hg_dim_print(&g->dims, dim, text, size);
}

void hg_graph_demand(hg_graph *g, hg_node_id id, hg_demand_level level, hg_dim actual,
                     hg_dim expected)
{
    char label[64], is[64], should[64];
    size_t capacity = g->demand_capacity;
    if (level > g->demand_level) return;
    hg_demand *list =
        hg_arena_grow(&g->ctx->arena, g->demand, g->n_demand, &capacity, sizeof *g->demand);
    if (list == NULL) {
        g->dims.failed = true;
        return;
    }
    g->demand = list;
    g->demand_capacity = capacity;
    hg_str name = hg_node_label(g, id, label, sizeof label);
    demand_name(g, id, actual, is, sizeof is);
    demand_name(g, id, expected, should, sizeof should);
    hg_str what = hg_str_format(&g->ctx->arena, "%s: %s against %s",
                                hg_graph_node(g, id)->origin->name, is, should);
    name = hg_str_copy(&g->ctx->arena, name);
    if (name.text == NULL) g->dims.failed = true;
    if (what.text == NULL) g->dims.failed = true;
    g->demand[g->n_demand++] = (hg_demand){actual, expected, level, name, what};
}

holo_status hg_graph_keep_demands(hg_graph *g, size_t first, hg_demand_level level)
{
    size_t end = g->n_demand;
    g->n_demand = first;
    if (g->demands.arena == NULL) hg_map_init(&g->demands, &g->ctx->arena);
    for (size_t i = first; i < end; i++) {
        hg_demand d = g->demand[i];
        const hg_dim pair[2] = {d.actual, d.expected};
        hg_str key = {(const char *)pair, sizeof pair};
        if (d.level > level || hg_map_get(&g->demands, key) != 0) continue;
        key = hg_str_copy(&g->ctx->arena, key);
        if (key.text == NULL || !hg_map_set(&g->demands, key, 1))
            return hg_fail_nomem(g->ctx->error, sizeof pair);
        g->demand[g->n_demand++] = d;
    }
    return HOLO_OK;
}
