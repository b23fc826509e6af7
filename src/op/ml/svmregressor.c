/* svmregressor.c - SVMRegressor: a weighted sum of how near rows are to support vectors, plus rho;
 * of a one-class machine only the side counts, 1 or -1. Without support vectors it is linear. */
#include "op/op_svm.h"

static holo_status svmregressor_infer(hg_infer *n)
{
    const hg_attr *coefficients;
    int64_t supports, one_class, features;
    HG_TRY(hg_svm_infer(n));
    HG_TRY(hg_attr_int(n, "n_supports", 0, &supports));
    HG_TRY(hg_attr_int(n, "one_class", 0, &one_class));
    HG_TRY(hg_ml_list(n, "coefficients", HG_ATTR_FLOATS, &coefficients));
    features = (int64_t)coefficients->count;
    if (supports < 0 || supports > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "n_supports is %lld, expected 0 to %d",
                             (long long)supports, INT32_MAX);
    if (supports > 0) HG_TRY(hg_svm_length(n, "coefficients", supports));
    if (supports > 0) HG_TRY(hg_svm_features(n, supports, &features));
    HG_TRY(hg_ml_features(n, features));
    n->out[0] = (hg_type){.dtype = HOLO_F32, .rank = 2};
    n->out[0].dim[0] = hg_ml_rows(n);
    n->out[0].dim[1] = hg_dim_const(n->dims, 1);
    return HOLO_OK;
}

static hg_value_id svmregressor_sum(hg_build *b, hg_value_id near, const hg_attr *coefficients,
                                    const hg_attr *rho)
{
    const hg_value_id w = hg_ml_floats(b, coefficients->floats, coefficients->count, HOLO_F32);
    const hg_value_id sum = hg_build_2(b, "holo:SvmSum", near, w);
    return hg_build_2(b, "Add", sum, hg_ml_floats(b, rho->floats, 1, HOLO_F64));
}

static holo_status svmregressor_lower(hg_build *b)
{
    const hg_attr *coefficients = hg_ml_node_list(b->node, "coefficients");
    const hg_attr *rho = hg_ml_node_list(b->node, "rho");
    const int64_t supports = hg_node_int(b->node, "n_supports", 0);
    const bool one_class = hg_node_int(b->node, "one_class", 0) != 0;
    const hg_ml_transform transform = hg_ml_node_transform(b->node);
    hg_value_id y = supports > 0
                        ? svmregressor_sum(b, hg_svm_near(b, supports), coefficients, rho)
                        : hg_ml_linear(b, hg_ml_matrix(b), coefficients, 1, rho->floats, 1);
    const holo_dtype dtype = hg_build_type(b, y)->dtype;
    if (one_class)
        y = hg_build_3(b, "Where", hg_build_2(b, "Greater", y, hg_build_scalar(b, dtype, 0.0)),
                       hg_build_scalar(b, dtype, 1.0), hg_build_scalar(b, dtype, -1.0));
    return hg_ml_regress(b, y, transform);
}

const hg_op hg_op_ml_svmregressor = {
    .name = "SVMRegressor",
    .domain = "ai.onnx.ml",
    .brief = "a weighted sum of how near rows are to support vectors",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = svmregressor_infer,
    .lower = svmregressor_lower,
};
