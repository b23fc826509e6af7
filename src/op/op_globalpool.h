/* op_globalpool.h - what the global pools share. */
#ifndef HG_OP_OP_GLOBALPOOL_H
#define HG_OP_OP_GLOBALPOOL_H

#include "op/op_reduce.h"

/* [N, C, 1, 1, ...] */
HG_MUST_CHECK holo_status hg_globalpool_infer(hg_infer *n);

#endif
