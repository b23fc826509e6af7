/* op_pool.h - what MaxPool, AveragePool and LpPool share. */
#ifndef HG_OP_OP_POOL_H
#define HG_OP_OP_POOL_H

#include "kernel/pool.h"
#include "op/op_window.h"

/* [N, C, spatial...] (layout 0) or [N, spatial..., C] (layout 1); sets out[0]. */
HG_MUST_CHECK holo_status hg_pool_infer(hg_infer *n, hg_pool_layout layout);
/* Windows over an input of that type. */
HG_MUST_CHECK holo_status hg_pool_read(const hg_infer *n, const hg_type *x, hg_pool_layout layout,
                                       hg_window *w);
HG_MUST_CHECK holo_status hg_pool_emit(hg_emit *e, hg_pool_mode mode, hg_pool_layout layout);

#endif
