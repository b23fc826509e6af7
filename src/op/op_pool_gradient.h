/* op_pool_gradient.h - derivatives of pools. */
#ifndef HG_OP_OP_POOL_GRADIENT_H
#define HG_OP_OP_POOL_GRADIENT_H

#include "op/op_gradient.h"
#include "op/op_pool.h"

/* A window of ones: [1, 1, kernel]. */
hg_value_id hg_build_pool_kernel(hg_build *b, const hg_type *x, const hg_window *w);
/* Every element of y, one for each window over x, added to all elements of its window. */
hg_value_id hg_build_pool_back(hg_build *b, hg_value_id y, const hg_type *x, const hg_window *w);

#endif
