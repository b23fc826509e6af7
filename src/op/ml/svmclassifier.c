/* svmclassifier.c - SVMClassifier: the class that wins most of the pairs of classes that support
 * vectors tell apart, and scores, transformed.
 *
 * Scores are probabilities of the classes when prob_a and prob_b are given. Otherwise there is one
 * for each pair, above 0 for the first of the two; the only one of two classes, s, becomes the two
 * columns -s and s, or 1 - s and s for PROBIT. Without support vectors the scores are x W' +
 * rho[0], one for each class, and the highest decides. */
#include "op/op_svm.h"

typedef struct svmclassifier {
    const hg_attr *labels, *per_class;
    int64_t classes, vectors, pairs;
    bool has_probability;
} svmclassifier;

static holo_status svmclassifier_read(const hg_infer *n, svmclassifier *out)
{
    const hg_attr *a;
    HG_TRY(hg_ml_labels(n, "classlabels_ints", "classlabels_strings", &out->labels));
    HG_TRY(hg_ml_list(n, "vectors_per_class", HG_ATTR_INTS, &out->per_class));
    HG_TRY(hg_ml_list(n, "prob_a", HG_ATTR_FLOATS, &a));
    out->classes = (int64_t)out->labels->count;
    out->pairs = out->classes * (out->classes - 1) / 2;
    out->vectors = 0;
    for (size_t i = 0; i < out->per_class->count; i++) {
        const int64_t count = out->per_class->ints[i];
        if (count < 0 || count > INT32_MAX)
            return hg_infer_fail(n, HOLO_E_MODEL, "vectors_per_class[%zu] is %lld", i,
                                 (long long)count);
        out->vectors += count;
    }
    out->has_probability = out->vectors > 0 && a->count != 0;
    return HOLO_OK;
}

/* Lists for support vectors fit each other. */
static holo_status svmclassifier_check(const hg_infer *n, const svmclassifier *c, int64_t *features)
{
    if (c->classes < 2 || (int64_t)c->per_class->count != c->classes)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "vectors_per_class has %zu entries for %lld labels, expected as many, "
                             "2 at least",
                             c->per_class->count, (long long)c->classes);
    HG_TRY(hg_svm_length(n, "coefficients", (c->classes - 1) * c->vectors));
    HG_TRY(hg_svm_length(n, "rho", c->pairs));
    HG_TRY(hg_svm_length(n, "prob_a", c->has_probability ? c->pairs : 0));
    HG_TRY(hg_svm_length(n, "prob_b", c->has_probability ? c->pairs : 0));
    return hg_svm_features(n, c->vectors, features);
}

static holo_status svmclassifier_infer(hg_infer *n)
{
    svmclassifier c;
    const hg_attr *coefficients;
    int64_t features;
    HG_TRY(hg_svm_infer(n));
    HG_TRY(svmclassifier_read(n, &c));
    HG_TRY(hg_ml_list(n, "coefficients", HG_ATTR_FLOATS, &coefficients));
    if (c.classes < 1 || c.classes > 65535)
        return hg_infer_fail(n, HOLO_E_MODEL, "there are %lld labels, expected 1 to 65535",
                             (long long)c.classes);
    if (c.vectors > 0) {
        HG_TRY(svmclassifier_check(n, &c, &features));
    } else if (coefficients->count % (size_t)c.classes != 0) {
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "coefficients has %zu entries, expected a multiple of %lld",
                             coefficients->count, (long long)c.classes);
    } else {
        features = (int64_t)coefficients->count / c.classes;
    }
    HG_TRY(hg_ml_features(n, features));
    const bool by_pair = c.vectors > 0 && !c.has_probability && c.classes > 2;
    hg_ml_infer_classes(n, c.labels, by_pair ? c.pairs : c.classes);
    return HOLO_OK;
}

static hg_value_id svmclassifier_probability(hg_build *b, const svmclassifier *c, hg_value_id s)
{
    const hg_attr *pa = hg_ml_node_list(b->node, "prob_a"),
                  *pb = hg_ml_node_list(b->node, "prob_b");
    const hg_attr classes = hg_attr_make_int("classes", c->classes);
    const hg_value_id in[3] = {s, hg_ml_constant(b, pa), hg_ml_constant(b, pb)};
    return hg_build_op(b, "holo:SvmProbability", in, 3, &classes, 1);
}

static holo_status svmclassifier_pairs(hg_build *b, const svmclassifier *c,
                                       hg_ml_transform transform)
{
    const hg_attr *coefficients = hg_ml_node_list(b->node, "coefficients");
    const hg_attr *rho = hg_ml_node_list(b->node, "rho");
    const uint32_t n_out = b->node->n_out;
    hg_value_id w = hg_build_2(b, "Reshape", hg_ml_constant(b, coefficients),
                               hg_build_ints(b, (int64_t[]){c->classes - 1, c->vectors}, 2));
    const hg_value_id in[4] = {hg_svm_near(b, c->vectors), w, hg_ml_constant(b, c->per_class),
                               hg_ml_constant(b, rho)};
    hg_node_id vote = hg_build_node(b, "holo:SvmVote", in, 4, NULL, 0, 2);
    if (vote == 0) return b->status;
    hg_value_id s = hg_graph_node(b->g, vote)->out[0], winner = hg_graph_node(b->g, vote)->out[1];
    hg_build_replace(b, 0, hg_ml_pick(b, c->labels, winner));
    if (n_out < 2) return b->status;
    hg_value_id one = hg_build_scalar(b, HOLO_F64, 1.0);
    if (c->has_probability)
        s = svmclassifier_probability(b, c, s);
    else if (c->classes == 2)
        s = hg_ml_pair(
            b, transform == HG_ML_PROBIT ? hg_build_2(b, "Sub", one, s) : hg_build_1(b, "Neg", s),
            s);
    hg_build_replace(b, 1, hg_build_cast(b, hg_ml_transformed(b, s, transform), HOLO_F32));
    return b->status;
}

static holo_status svmclassifier_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_attr *coefficients = hg_ml_node_list(b->node, "coefficients");
    const hg_attr *rho = hg_ml_node_list(b->node, "rho");
    const hg_ml_transform transform = hg_ml_node_transform(b->node);
    svmclassifier c;
    HG_TRY(svmclassifier_read(&n, &c));
    if (c.vectors > 0) return svmclassifier_pairs(b, &c, transform);
    hg_value_id s = hg_ml_linear(b, hg_ml_matrix(b), coefficients, c.classes, rho->floats, 1);
    return hg_ml_classify(b, c.labels, s, transform);
}

const hg_op hg_op_ml_svmclassifier = {
    .name = "SVMClassifier",
    .domain = "ai.onnx.ml",
    .brief = "the class that wins most pairs that support vectors tell apart",
    .since = 1,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_ML_TYPES,
    .infer = svmclassifier_infer,
    .lower = svmclassifier_lower,
};
