/* op_norm.h - what LayerNormalization and RMSNormalization share. */
#ifndef HG_OP_OP_NORM_H
#define HG_OP_OP_NORM_H

#include "op/op_gradient.h"

/* Parameter 2 of the kernel "layernorm". */
typedef enum hg_norm_kind { HG_NORM_LAYER = 0, HG_NORM_RMS = 1 } hg_norm_kind;

HG_MUST_CHECK holo_status hg_norm_infer(hg_infer *n);
/* Leaves nodes whose scale and bias have the normalised shape to the kernel; others get a product
 * and a sum. */
HG_MUST_CHECK holo_status hg_norm_lower(hg_build *b, hg_norm_kind kind);
HG_MUST_CHECK holo_status hg_norm_emit(hg_emit *e, hg_norm_kind kind);
/* The mean over the axes from `axis` on, dimensions kept. */
hg_value_id hg_build_norm_mean(hg_build *b, hg_value_id x, int32_t axis);
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

/* op_norm_gradient.c. What is divided by its deviation: x less its mean (not for RMS), and 1 /
 * deviation, over dimensions from `axis` on. */
typedef struct hg_norm_parts {
    hg_norm_kind kind;
    int32_t axis;
    hg_value_id unit, inverse;
} hg_norm_parts;
void hg_build_norm_parts(hg_build *b, hg_value_id x, double epsilon, hg_norm_parts *p);
/* The gradient of x from that of the result before scale and bias. */
hg_value_id hg_build_norm_back(hg_build *b, const hg_norm_parts *p, hg_value_id g);
HG_MUST_CHECK holo_status hg_norm_gradient(hg_gradient *d, hg_norm_kind kind);

#endif
