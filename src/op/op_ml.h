/* op_ml.h - what the operators of ai.onnx.ml share: lists, labels, linear scores, transforms.
 *
 * Features are rows [n,c]; a vector [c] is one row. Where a result is float32 whatever the features
 * are, float32 features are computed in float32 and all others in float64, rounded once. */
#ifndef HG_OP_OP_ML_H
#define HG_OP_OP_ML_H

#include "op/op.h"

#define HG_ML_TYPES                                                                                \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_I32))

/* For rewrites that share functions with inference. */
hg_infer hg_ml_infer(const hg_build *b);

/* ---- lists
 * ---------------------------------------------------------------------------------------------- */

/* A list attribute of that kind; without entries when it is absent, never NULL. */
HG_MUST_CHECK holo_status hg_ml_list(const hg_infer *n, const char *name, hg_attr_kind kind,
                                     const hg_attr **out);
/* The same for rewrites, where kinds were checked before. */
const hg_attr *hg_ml_node_list(const hg_node *n, const char *name);
/* Labels are integers or strings, told apart by their kind; both together are an error. */
HG_MUST_CHECK holo_status hg_ml_labels(const hg_infer *n, const char *ints, const char *strings,
                                       const hg_attr **out);
const hg_attr *hg_ml_node_labels(const hg_node *n, const char *ints, const char *strings);
/* A 1-D constant of a list's floats, integers or strings. */
hg_value_id hg_ml_constant(hg_build *b, const hg_attr *list);
/* The same for floats, as type float32 or float64. */
hg_value_id hg_ml_floats(hg_build *b, const float *values, size_t count, holo_dtype dtype);
/* label[index] for every index; `list` has at least one entry. */
hg_value_id hg_ml_pick(hg_build *b, const hg_attr *list, hg_value_id index);

/* ---- rows
 * ---------------------------------------------------------------------------------------------- */

/* Input 0 is [c] or [n,c] with c == count; count < 0: any. */
HG_MUST_CHECK holo_status hg_ml_features(const hg_infer *n, int64_t count);
/* Number of rows of input 0. */
hg_dim hg_ml_rows(const hg_infer *n);
/* Input 0 as rows of the type that is computed in. */
hg_value_id hg_ml_matrix(hg_build *b);
/* Outputs of a classifier: a label and `columns` float32 scores per row. */
void hg_ml_infer_classes(hg_infer *n, const hg_attr *labels, int64_t columns);
/* The last dimension of x is `count`, known or checked at run time. */
hg_value_id hg_ml_columns(hg_build *b, hg_value_id x, int64_t count);
/* x W' + intercepts, [n,rows]: coefficients row by row; intercepts may have no entries, one (for
 * all rows) or one for each. */
hg_value_id hg_ml_linear(hg_build *b, hg_value_id x, const hg_attr *coefficients, int64_t rows,
                         const float *intercepts, size_t n_intercepts);

/* ---- scores
 * -------------------------------------------------------------------------------------------- */

/* In the order of TreeEnsemble's numbers. */
typedef enum hg_ml_transform {
    HG_ML_NONE,
    HG_ML_SOFTMAX,
    HG_ML_LOGISTIC,
    HG_ML_SOFTMAX_ZERO,
    HG_ML_PROBIT
} hg_ml_transform;

/* Attribute post_transform, a name. */
HG_MUST_CHECK holo_status hg_ml_transform_of(const hg_infer *n, hg_ml_transform *out);
hg_ml_transform hg_ml_node_transform(const hg_node *n);
/* Of scores [n,e], row by row. */
hg_value_id hg_ml_transformed(hg_build *b, hg_value_id scores, hg_ml_transform transform);
/* The winner of each row, [n]. Transforms that keep the order are not asked: rounding would make
 * ties of scores that differ. */
hg_value_id hg_ml_winner(hg_build *b, hg_value_id scores, hg_value_id transformed,
                         hg_ml_transform transform);
/* Columns side by side. */
hg_value_id hg_ml_pair(hg_build *b, hg_value_id first, hg_value_id second);
/* For classifiers with one label: {none, label}, where none is 0 or an empty text; {0, 1} without
 * any. More labels stay as they are. */
HG_MUST_CHECK holo_status hg_ml_label_or_none(hg_ctx *ctx, const hg_attr *labels, hg_attr *out);
/* Ends a classifier: output 0 is labels[winner], output 1 the transformed scores as float32. */
holo_status hg_ml_classify(hg_build *b, const hg_attr *labels, hg_value_id scores,
                           hg_ml_transform transform);
/* Ends a regressor. */
holo_status hg_ml_regress(hg_build *b, hg_value_id scores, hg_ml_transform transform);

#endif
