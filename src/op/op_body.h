/* op_body.h - bodies of control flow as graphs of their own.
 *
 * Infer turns If, Loop, Scan and SequenceMap into holo:If and holo:Loop, whose bodies are children
 * of the graph (hg_graph.child), with inputs for all that they capture. Sizes of those inputs that
 * are not constant are symbols of the child; what they are in the graph around is written on the
 * node:
 *
 *   bodies   integers: children
 *   dims0/1  dims: for each symbol of that child, in their order, its size in the graph around;
 * none: 0
 *
 *   holo:If    condition, inputs of the first body, inputs of the second
 *   holo:Loop  trip count or none, condition or none, carried values, captures
 *     carried   integer: number of carried values
 *     collect   integers: for each output behind them, 1: a sequence, 0: stacked on axis 0
 *     counted   integer: 1 when the trip count alone decides
 * The child of a holo:Loop takes counter, condition, carried values and captures. */
#ifndef HG_OP_OP_BODY_H
#define HG_OP_OP_BODY_H

#include "op/op.h"

/* Body k of a node. */
hg_graph *hg_body_graph(const hg_graph *g, const hg_node *n, uint32_t k);
/* Nothing but a holo:Fail: the other branch decides about types. */
bool hg_body_fails(const hg_graph *body);
/* Type of a value of body k in the dims of the graph around; 0 where that has no expression for it.
 */
HG_MUST_CHECK holo_status hg_body_type(const hg_infer *n, uint32_t k, const hg_type *inner,
                                       hg_type *out);
/* The same for a size. */
HG_MUST_CHECK holo_status hg_body_dim(const hg_infer *n, uint32_t k, hg_dim inner, hg_dim *out);
/* What two values have in common; dims and rank that differ are unknown. False when element types
 * differ. */
HG_MUST_CHECK holo_status hg_type_join(hg_ctx *ctx, const hg_type *a, const hg_type *b,
                                       hg_type *out, bool *possible);
/* Unknown dims of output j become sizes that are found at run time. */
void hg_infer_late_rest(hg_infer *n, uint32_t j);
bool hg_type_is_container(const hg_type *type);
/* A sequence or optional whose number of items is found at run time; item is copied. */
HG_MUST_CHECK holo_status hg_infer_container(hg_infer *n, uint32_t j, holo_dtype dtype,
                                             const hg_type *item);

/* op_if_gradient.c: of holo:If. */
HG_MUST_CHECK holo_status hg_if_gradient(hg_gradient *d);

#endif
