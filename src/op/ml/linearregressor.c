/* linearregressor.c - LinearRegressor: x W' + intercepts, transformed, as float32. The transform is
 * applied to one target as to several, as the standard says. */
#include "op/op_ml.h"

static holo_status linearregressor_infer(hg_infer *n)
{
    const hg_attr *coefficients, *intercepts;
    hg_ml_transform transform;
    int64_t targets;
    HG_TRY(hg_ml_list(n, "coefficients", HG_ATTR_FLOATS, &coefficients));
    HG_TRY(hg_ml_list(n, "intercepts", HG_ATTR_FLOATS, &intercepts));
    HG_TRY(hg_attr_int(n, "targets", 1, &targets));
    HG_TRY(hg_ml_transform_of(n, &transform));
    if (targets < 1 || targets > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "targets is %lld, expected 1 to %d",
                             (long long)targets, INT32_MAX);
    if (coefficients->count == 0 || coefficients->count % (size_t)targets != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "coefficients has %zu entries, expected a multiple of %lld",
                             coefficients->count, (long long)targets);
    if (intercepts->count != 0 && intercepts->count != (size_t)targets)
        return hg_infer_fail(n, HOLO_E_MODEL, "intercepts has %zu entries, expected %lld",
                             intercepts->count, (long long)targets);
    HG_TRY(hg_ml_features(n, (int64_t)(coefficients->count / (size_t)targets)));
    n->out[0] = (hg_type){.dtype = HOLO_F32, .rank = 2};
    n->out[0].dim[0] = hg_ml_rows(n);
    n->out[0].dim[1] = hg_dim_const(n->dims, targets);
    return HOLO_OK;
}

static holo_status linearregressor_lower(hg_build *b)
{
    const hg_node *node = b->node;
    const hg_attr *intercepts = hg_ml_node_list(node, "intercepts");
    const hg_attr *coefficients = hg_ml_node_list(node, "coefficients");
    const int64_t targets = hg_node_int(node, "targets", 1);
    const hg_ml_transform transform = hg_ml_node_transform(node);
    hg_value_id y = hg_ml_linear(b, hg_ml_matrix(b), coefficients, targets, intercepts->floats,
                                 intercepts->count);
    return hg_ml_regress(b, y, transform);
}

const hg_op hg_op_ml_linearregressor = {
    .name = "LinearRegressor",
    .domain = "ai.onnx.ml",
    .brief = "x W' + intercepts",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = linearregressor_infer,
    .lower = linearregressor_lower,
};
