/* op_cumulate.h - running sums and products along one axis. */
#ifndef HG_OP_OP_CUMULATE_H
#define HG_OP_OP_CUMULATE_H

#include "op/op.h"

#define HG_CUMULATE_TYPES                                                                          \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

HG_MUST_CHECK holo_status hg_cumulate_infer(hg_infer *n);
HG_MUST_CHECK holo_status hg_cumulate_emit(hg_emit *e);

#endif
