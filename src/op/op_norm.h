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
/* One over the root of the mean square of d over the axes from `axis` on. */
hg_value_id hg_build_norm_inverse(hg_build *b, hg_value_id d, int32_t axis, double epsilon);

/* SimplifiedLayerNormalization, which exporters put in the domain of ONNX or in com.microsoft. */
HG_MUST_CHECK holo_status hg_norm_simplified_infer(hg_infer *n);
HG_MUST_CHECK holo_status hg_norm_simplified_lower(hg_build *b);
/* What SkipLayerNormalization and SkipSimplifiedLayerNormalization share: the sum of input, skip
 * and bias (input `bias`), normalised. */
HG_MUST_CHECK holo_status hg_norm_skip_infer(hg_infer *n);
hg_value_id hg_build_norm_sum(hg_build *b, uint32_t bias);
#define HG_NORM_SKIP_EPSILON 1e-12

#endif
