/* op_svm.h - what the operators on support vectors share. */
#ifndef HG_OP_OP_SVM_H
#define HG_OP_OP_SVM_H

#include "op/op_ml.h"

/* Attributes kernel_type and kernel_params make sense; rho has an entry at least, coefficients too.
 */
HG_MUST_CHECK holo_status hg_svm_infer(const hg_infer *n);
/* A list of floats has `count` entries. */
HG_MUST_CHECK holo_status hg_svm_length(const hg_infer *n, const char *name, int64_t count);
/* Features of `vectors` support vectors. */
HG_MUST_CHECK holo_status hg_svm_features(const hg_infer *n, int64_t vectors, int64_t *out);
/* How near the rows are to them: float64 [n,vectors]. */
hg_value_id hg_svm_near(hg_build *b, int64_t vectors);

#endif
