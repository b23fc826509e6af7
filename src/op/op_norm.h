/* op_norm.h - what LayerNormalization and RMSNormalization share. */
#ifndef HG_OP_OP_NORM_H
#define HG_OP_OP_NORM_H

#include "op/op.h"

/* Parameter 2 of the kernel "layernorm". */
typedef enum hg_norm_kind { HG_NORM_LAYER = 0, HG_NORM_RMS = 1 } hg_norm_kind;

HG_MUST_CHECK holo_status hg_norm_infer(hg_infer *n);
/* Leaves nodes whose scale and bias have the normalised shape to the kernel; others get a product
 * and a sum. */
HG_MUST_CHECK holo_status hg_norm_lower(hg_build *b, hg_norm_kind kind);
HG_MUST_CHECK holo_status hg_norm_emit(hg_emit *e, hg_norm_kind kind);

#endif
