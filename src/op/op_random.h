/* op_random.h - what the random operators share. */
#ifndef HG_OP_OP_RANDOM_H
#define HG_OP_OP_RANDOM_H

#include "kernel/random.h"
#include "op/op.h"

/* Attribute dtype, or `standard`; one of `types`. */
HG_MUST_CHECK holo_status hg_random_dtype(const hg_infer *n, holo_dtype standard, hg_types types,
                                          holo_dtype *out);
/* Shape from attribute "shape", or in[0]'s; sets out[0]. */
HG_MUST_CHECK holo_status hg_random_infer(hg_infer *n);
/* Parameters seed, kind, and two floats read from attributes. */
HG_MUST_CHECK holo_status hg_random_emit(hg_emit *e, hg_random_kind kind);
/* Seed of a node: attribute "seed", or a fixed one that differs from node to node. */
int64_t hg_random_seed(const hg_node *node, hg_node_id id);

#endif
