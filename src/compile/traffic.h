/* traffic.h - what a run of a graph moves, and which part of the graph stands there several times.
 */
#ifndef HG_COMPILE_TRAFFIC_H
#define HG_COMPILE_TRAFFIC_H

#include "graph/graph.h"

/* A size that only a run knows counts as this much, or as its declared bound if that is less. */
enum { HG_TRAFFIC_OPEN = 64 };

/* Bytes that the nodes of the graph and of its bodies read and write, each operand once per node
 * and each body once; views move nothing, nor do nodes of constants alone. */
typedef struct hg_traffic {
    uint64_t bytes;
    bool depends_on_data; /* some sizes are found while running, so that bytes say little */
} hg_traffic;

HG_MUST_CHECK holo_status hg_traffic_count(const hg_graph *g, hg_traffic *out);

/* The longest run of nodes that repeats itself: `count` times `nodes` nodes, one behind the other,
 * with equal operators and types. count is 0 when nothing repeats. */
typedef struct hg_repeat {
    uint64_t count, nodes;
} hg_repeat;

HG_MUST_CHECK holo_status hg_repeat_find(const hg_graph *g, hg_repeat *out);

#endif
