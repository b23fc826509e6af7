/* walk.c - the order in which regions and nodes are visited. */
#include "graph/walk.h"

hg_walk hg_walk_start(const hg_graph *g)
{
    return (hg_walk){.g = g};
}

static bool walk_enter(hg_walk *w, hg_region_id region, uint32_t body)
{
    w->event = HG_WALK_REGION;
    w->region = region;
    w->body = body;
    w->depth++;
    return true;
}

/* The node, or the end of its region when there is none. */
static bool walk_node(hg_walk *w, hg_node_id node)
{
    const hg_region *r = hg_graph_region(w->g, w->region);
    w->node = node;
    w->event = node != 0 ? HG_WALK_NODE : HG_WALK_REGION_END;
    if (node != 0 || r->owner == 0) return true;
    const hg_node *owner = hg_graph_node(w->g, r->owner);
    w->body = 0;
    while (w->body + 1 < owner->n_body && owner->body[w->body] != w->region)
        w->body++;
    return true;
}

static bool walk_leave(hg_walk *w)
{
    hg_node_id owner = hg_graph_region(w->g, w->region)->owner;
    if (owner == 0) return false;
    const hg_node *n = hg_graph_node(w->g, owner);
    w->depth--;
    if (w->body + 1 < n->n_body) return walk_enter(w, n->body[w->body + 1], w->body + 1);
    w->event = HG_WALK_NODE_END;
    w->region = n->region;
    w->node = owner;
    return true;
}

bool hg_walk_next(hg_walk *w)
{
    const hg_node *n;
    switch (w->event) {
    case HG_WALK_REGION: return walk_node(w, hg_graph_region(w->g, w->region)->first);
    case HG_WALK_NODE:
        n = hg_graph_node(w->g, w->node);
        if (n->n_body != 0) return walk_enter(w, n->body[0], 0);
        w->event = HG_WALK_NODE_END;
        return true;
    case HG_WALK_NODE_END: return walk_node(w, hg_graph_node(w->g, w->node)->next);
    case HG_WALK_REGION_END: return walk_leave(w);
    }
    return walk_enter(w, HG_REGION_MAIN, 0);
}
