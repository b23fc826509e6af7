/* linearclassifier.c - LinearClassifier: the label with the highest of the scores x W' +
 * intercepts, and the scores, transformed.
 *
 * One row of coefficients and two labels: the scores are -s and s. One row and one label (or none):
 * the only score decides between the label (or 1) and none, at 0, or at 0.5 once it is
 * transformed. */
#include "op/op_ml.h"

typedef struct linearclassifier {
    const hg_attr *coefficients, *intercepts, *labels;
    int64_t rows; /* of coefficients */
} linearclassifier;

/* Nothing but the lists says how many rows there are: intercepts, else the number of features. */
static linearclassifier linearclassifier_read(const hg_dims *d, const hg_node *n, const hg_type *x)
{
    linearclassifier c = {hg_ml_node_list(n, "coefficients"), hg_ml_node_list(n, "intercepts"),
                          hg_ml_node_labels(n, "classlabels_ints", "classlabels_strings"), 1};
    int64_t features;
    if (c.intercepts->count != 0)
        c.rows = (int64_t)c.intercepts->count;
    else if (hg_dim_is_const(d, x->dim[x->rank - 1], &features) && features > 0)
        c.rows = (int64_t)c.coefficients->count / features;
    else if (c.labels->count > 2)
        c.rows = (int64_t)c.labels->count;
    return c;
}

static holo_status linearclassifier_infer(hg_infer *n)
{
    const hg_attr *list;
    hg_ml_transform transform;
    int64_t ignored;
    HG_TRY(hg_ml_list(n, "coefficients", HG_ATTR_FLOATS, &list));
    HG_TRY(hg_ml_list(n, "intercepts", HG_ATTR_FLOATS, &list));
    HG_TRY(hg_ml_labels(n, "classlabels_ints", "classlabels_strings", &list));
    HG_TRY(hg_attr_int(n, "multi_class", 0, &ignored)); /* says how the model was trained */
    HG_TRY(hg_ml_transform_of(n, &transform));
    HG_TRY(hg_ml_features(n, -1));
    const linearclassifier c = linearclassifier_read(n->dims, n->node, n->in[0]);
    const size_t labels = c.labels->count;
    if (c.rows < 1 || c.coefficients->count == 0 || c.coefficients->count % (size_t)c.rows != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "coefficients has %zu entries, expected a multiple of %lld",
                             c.coefficients->count, (long long)c.rows);
    if (c.rows > 1 ? labels < (size_t)c.rows : labels > 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "%zu labels for %lld rows of coefficients", labels,
                             (long long)c.rows);
    HG_TRY(hg_ml_features(n, (int64_t)c.coefficients->count / c.rows));
    hg_ml_infer_classes(n, c.labels, c.rows == 1 && labels == 2 ? 2 : c.rows);
    return HOLO_OK;
}

/* One score for one label. */
static holo_status linearclassifier_single(hg_build *b, const hg_attr *labels, hg_value_id scores,
                                           hg_ml_transform transform)
{
    const uint32_t n_out = b->node->n_out;
    hg_attr two;
    HG_TRY(hg_ml_label_or_none(b->ctx, labels, &two));
    hg_value_id z = hg_ml_transformed(b, scores, transform);
    hg_value_id limit =
        hg_build_scalar(b, hg_build_type(b, z)->dtype, transform == HG_ML_NONE ? 0.0 : 0.5);
    hg_value_id index = hg_build_cast(b, hg_build_2(b, "GreaterOrEqual", z, limit), HOLO_I64);
    index = hg_build_2(b, "Reshape", index, hg_build_ints(b, (int64_t[]){-1}, 1));
    hg_build_replace(b, 0, hg_ml_pick(b, &two, index));
    if (n_out > 1) hg_build_replace(b, 1, hg_build_cast(b, z, HOLO_F32));
    return b->status;
}

static holo_status linearclassifier_lower(hg_build *b)
{
    const hg_ml_transform transform = hg_ml_node_transform(b->node);
    const linearclassifier c =
        linearclassifier_read(&b->g->dims, b->node, hg_build_type(b, hg_build_in(b, 0)));
    hg_value_id s = hg_ml_linear(b, hg_ml_matrix(b), c.coefficients, c.rows, c.intercepts->floats,
                                 c.intercepts->count);
    if (c.rows == 1 && c.labels->count < 2)
        return linearclassifier_single(b, c.labels, s, transform);
    if (c.rows == 1) s = hg_ml_pair(b, hg_build_1(b, "Neg", s), s);
    return hg_ml_classify(b, c.labels, s, transform);
}

const hg_op hg_op_ml_linearclassifier = {
    .name = "LinearClassifier",
    .domain = "ai.onnx.ml",
    .brief = "the label with the highest of the scores x W' + intercepts",
    .since = 1,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_ML_TYPES,
    .infer = linearclassifier_infer,
    .lower = linearclassifier_lower,
};
