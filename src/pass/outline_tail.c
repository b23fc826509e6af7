/* outline_tail.c - the nodes behind a node that depend on it, and what the graph gets from them. */
#include "pass/outline.h"

static bool tail_reads(const hg_graph *g, hg_node_id id, const uint8_t *depends);

/* A body may use values of the regions around it. */
static bool tail_body_reads(const hg_graph *g, hg_region_id body, const uint8_t *depends)
{
    const hg_region *r = hg_graph_region(g, body);
    for (uint32_t i = 0; i < r->n_out; i++)
        if (depends[hg_region_out(g, body, i)]) return true;
    for (hg_node_id id = r->first; id != 0; id = hg_graph_node(g, id)->next)
        if (tail_reads(g, id, depends)) return true;
    return false;
}

/* The depth is that of the import, which is bounded. */
static bool tail_reads(const hg_graph *g, hg_node_id id, const uint8_t *depends)
{
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t i = 0; i < n->n_in; i++)
        if (depends[hg_node_in(g, n, i)]) return true;
    for (uint32_t k = 0; k < n->n_body; k++)
        if (tail_body_reads(g, n->body[k], depends)) return true;
    return false;
}

static void tail_mark(const hg_graph *g, hg_node_id id, uint8_t *depends)
{
    const hg_node *n = hg_graph_node(g, id);
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0) depends[n->out[j]] = 1;
}

/* Each value once, though the graph may give it twice. */
static holo_status tail_outputs(hg_graph *g, uint8_t *depends, hg_tail *tail)
{
    uint32_t n = hg_graph_region(g, HG_REGION_MAIN)->n_out;
    HG_TRY(HG_NEW(g->ctx, n + 1, &tail->out));
    for (uint32_t i = 0; i < n; i++) {
        hg_value_id v = hg_region_out(g, HG_REGION_MAIN, i);
        if (!depends[v]) continue;
        depends[v] = 0;
        tail->out[tail->n_out++] = v;
    }
    return HOLO_OK;
}

static holo_status tail_find(hg_graph *g, hg_node_id id, hg_tail *tail, uint8_t *depends)
{
    HG_TRY(HG_NEW(g->ctx, g->n_node, &tail->node));
    tail_mark(g, id, depends);
    for (hg_node_id at = hg_graph_node(g, id)->next, next; at != 0; at = next) {
        next = hg_graph_node(g, at)->next;
        if (!tail_reads(g, at, depends)) {
            hg_graph_move_node(g, at, id);
            tail->moved = true;
            continue;
        }
        tail->node[tail->n_node++] = at;
        tail_mark(g, at, depends);
    }
    return tail_outputs(g, depends, tail);
}

holo_status hg_tail_find(hg_graph *g, hg_node_id id, hg_tail *tail)
{
    *tail = (hg_tail){0};
    uint8_t *depends = hg_alloc_zero(&g->ctx->arena.alloc, g->n_value);
    if (depends == NULL) return hg_fail_nomem(g->ctx->error, g->n_value);
    size_t n_value = g->n_value;
    holo_status status = tail_find(g, id, tail, depends);
    hg_free(&g->ctx->arena.alloc, depends, n_value);
    return status;
}

void hg_tail_replace(hg_graph *g, const hg_tail *tail, hg_node_id made)
{
    for (uint32_t j = 0; j < tail->n_out; j++) {
        hg_value_id to = hg_graph_node(g, made)->out[j];
        hg_graph_value(g, to)->name = hg_graph_value(g, tail->out[j])->name;
        hg_graph_replace_uses(g, tail->out[j], to);
    }
    for (uint32_t i = tail->n_node; i-- > 0;)
        hg_graph_remove_node(g, tail->node[i]);
}
