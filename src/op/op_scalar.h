/* op_scalar.h - integer inputs with one element: sizes, axes, counts. */
#ifndef HG_OP_OP_SCALAR_H
#define HG_OP_OP_SCALAR_H

#include "op/op.h"

/* The only element of integer input i as an expression; bound at run time when it is not known
 * before. */
HG_MUST_CHECK holo_status hg_infer_scalar(const hg_infer *n, uint32_t i, hg_dim *out);

#endif
