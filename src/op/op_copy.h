/* op_copy.h - operators that only move elements evenly become one kernel call, or a view. */
#ifndef HG_OP_OP_COPY_H
#define HG_OP_OP_COPY_H

#include "op/op.h"

/* out[i0, i1, ...] = in[0][offset + i0 stride0 + i1 stride1 + ...]: see kernel/copy.c. */
typedef struct hg_copy {
    hg_dim offset; /* 0: none */
    hg_dim extent[2 * HG_MAX_RANK], stride[2 * HG_MAX_RANK];
    uint32_t loops;
} hg_copy;

/* Adds a loop inside those that are there. */
void hg_copy_loop(hg_copy *c, hg_dim extent, hg_dim stride);
/* The kernel call for it; a view when the elements lie one behind the other already. */
HG_MUST_CHECK holo_status hg_emit_copy(hg_emit *e, const hg_copy *c);
/* For .emit of operators that keep all elements in their order: a view, or a copy of elements that
 * are narrower than a byte, which views do not exist of. */
HG_MUST_CHECK holo_status hg_emit_same_elements(hg_emit *e);

#endif
