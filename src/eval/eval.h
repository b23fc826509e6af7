/* eval.h - runs one node on constants, through the reference kernels: for folding, packing and
 * tables. */
#ifndef HG_EVAL_EVAL_H
#define HG_EVAL_EVAL_H

#include "op/op.h"

/* Every input that the node reads is a constant and every size is a number. */
bool hg_eval_can(hg_graph *g, hg_node_id id);
/* Bytes of output j; E_LIMIT when it cannot be represented. */
HG_MUST_CHECK holo_status hg_eval_bytes(hg_graph *g, hg_node_id id, uint32_t j, size_t *bytes);
/* Computes the outputs into out[j] (hg_eval_bytes each; NULL for unwanted ones). Faults in data
 * become E_DATA; late kernels are not evaluated (E_UNSUPPORTED). */
HG_MUST_CHECK holo_status hg_eval_run(hg_graph *g, hg_node_id id, void *const *out);

#endif
