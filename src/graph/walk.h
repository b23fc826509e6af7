/* walk.h - visits every region and node in execution order, bodies inside their nodes; private to
 * graph/.
 *
 *     for (hg_walk w = hg_walk_start(g); hg_walk_next(&w);)
 *         switch (w.event) ...
 *
 * It follows the links of the graph and needs no memory, so that regions may be nested to any
 * depth. */
#ifndef HG_GRAPH_WALK_H
#define HG_GRAPH_WALK_H

#include "graph/graph.h"

typedef enum hg_walk_event {
    HG_WALK_REGION = 1, /* region begins */
    HG_WALK_NODE,       /* node, before its bodies */
    HG_WALK_NODE_END,   /* node, after its bodies */
    HG_WALK_REGION_END
} hg_walk_event;

typedef struct hg_walk {
    const hg_graph *g;
    hg_walk_event event; /* 0 before the first */
    hg_region_id region; /* where the walk is */
    hg_node_id node;     /* of NODE and NODE_END */
    uint32_t body;       /* REGION, REGION_END: which body of its owner it is */
    uint32_t depth;      /* 1 in the graph itself */
} hg_walk;

hg_walk hg_walk_start(const hg_graph *g);
bool hg_walk_next(hg_walk *w);

#endif
