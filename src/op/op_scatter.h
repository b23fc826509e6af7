/* op_scatter.h - what ScatterElements and ScatterND share. */
#ifndef HG_OP_OP_SCATTER_H
#define HG_OP_OP_SCATTER_H

#include "op/op.h"

/* Types of data, indices and updates, and the attribute "reduction"; the output is like data. */
HG_MUST_CHECK holo_status hg_scatter_infer(hg_infer *n);
/* Lane code that combines an old and a new element, when the node has a reduction. */
HG_MUST_CHECK holo_status hg_scatter_code(hg_emit *e);
/* The rule of both (op_scatter_gradient.c). */
HG_MUST_CHECK holo_status hg_scatter_gradient(hg_gradient *d);

#endif
