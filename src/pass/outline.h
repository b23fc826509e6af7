/* outline.h - bodies of control flow become graphs of their own: part of inferring shapes, since
 * types flow into a body and out of it again. See op/op_body.h for the result. */
#ifndef HG_PASS_OUTLINE_H
#define HG_PASS_OUTLINE_H

#include "op/op_body.h"
#include "pass/pass.h"

/* Types and shapes of a graph, bodies included (infer_shapes.c). */
HG_MUST_CHECK holo_status hg_infer_graph(hg_graph *g, bool *changed);
/* Replaces an If, Loop, Scan or SequenceMap whose inputs are inferred by nodes that stand before it
 * and are inferred, too; or, when only one branch can be taken, by the nodes of that branch, which
 * are not. */
/* *done is false when other nodes were put before it, which are inferred first. */
HG_MUST_CHECK holo_status hg_outline_node(hg_graph *g, hg_node_id id, bool *done);

/* ---- shared by the files of this work -------------------------------------------------------- */

/* A body on its way out. */
typedef struct hg_outline {
    hg_graph *g, *child;
    hg_node_id owner;
    hg_value_id *inner; /* by value of g: the child's */
    size_t n_inner;
    hg_dim *outer; /* by symbol of child: the dim of g; 0: none */
    size_t n_outer, outer_capacity;
    hg_value_id *capture; /* values of g behind the child's last inputs */
    uint32_t n_capture;
    size_t capture_capacity;
} hg_outline;

/* A new child of g. Always end with hg_outline_end. */
HG_MUST_CHECK holo_status hg_outline_begin(hg_outline *o, hg_graph *g, hg_node_id owner,
                                           const char *what);
void hg_outline_end(hg_outline *o);
/* The child's name for a dim of g. */
HG_MUST_CHECK holo_status hg_outline_dim(hg_outline *o, hg_dim dim, hg_dim *out);
/* The child's form of a type; axes in `free` get sizes that nothing is known about. */
HG_MUST_CHECK holo_status hg_outline_type(hg_outline *o, const hg_type *type, uint32_t free,
                                          hg_type *out);
/* Items of containers keep what is constant about their shape: nothing at run time says the rest.
 */
HG_MUST_CHECK holo_status hg_outline_item(const hg_graph *from, hg_graph *to, const hg_type *type,
                                          const hg_type **out);
/* The child's value for a value of g: what it was given, a copy of a constant, or a new input. */
HG_MUST_CHECK holo_status hg_outline_value(hg_outline *o, hg_value_id value, hg_value_id *out);
/* Copies the nodes of a body into the child. */
HG_MUST_CHECK holo_status hg_outline_nodes(hg_outline *o, hg_region_id body);
/* Copies one node behind those that the child has. */
HG_MUST_CHECK holo_status hg_outline_copy(hg_outline *o, hg_node_id id);
/* The outputs of the body become outputs of the child. */
HG_MUST_CHECK holo_status hg_outline_outputs(hg_outline *o, hg_region_id body);
/* Adds the child to the graph, once it is as it shall be. */
HG_MUST_CHECK holo_status hg_outline_keep(hg_outline *o, int64_t *number);

/* outline_tail.c: what comes behind a node and depends on it. */
typedef struct hg_tail {
    hg_node_id *node; /* in their order */
    uint32_t n_node;
    hg_value_id *out; /* of the node or of these, given by the graph */
    uint32_t n_out;
    bool moved; /* nodes that do not depend on it stand before it now: they are inferred first */
} hg_tail;
HG_MUST_CHECK holo_status hg_tail_find(hg_graph *g, hg_node_id id, hg_tail *tail);
/* The values that it gives are those of node `made` now: the nodes go. */
void hg_tail_replace(hg_graph *g, const hg_tail *tail, hg_node_id made);

/* outline_loop.c */
HG_MUST_CHECK holo_status hg_outline_loop(hg_build *b);
HG_MUST_CHECK holo_status hg_outline_scan(hg_build *b);
HG_MUST_CHECK holo_status hg_outline_sequence_map(hg_build *b);

#endif
