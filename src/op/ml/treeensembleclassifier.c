/* treeensembleclassifier.c - TreeEnsembleClassifier: the label with the highest score by decision
 * trees, and the scores, transformed.
 *
 * When all votes are for one class and there are at most two labels, the votes give one score s,
 * for the last label. The first column is then 1 - s, or -s for the transforms that take scores of
 * any sign (SOFTMAX, LOGISTIC, SOFTMAX_ZERO). The transform is applied to both. */
#include "op/op_tree.h"

static holo_status treeensembleclassifier_labels(const hg_infer *n, const hg_attr **out)
{
    HG_TRY(hg_ml_labels(n, "classlabels_int64s", "classlabels_strings", out));
    if ((*out)->count != 0 && (*out)->count <= INT32_MAX) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "classlabels_int64s and classlabels_strings have no entries");
}

static holo_status treeensembleclassifier_infer(hg_infer *n)
{
    const hg_attr *labels;
    hg_ml_transform transform;
    HG_TRY(treeensembleclassifier_labels(n, &labels));
    HG_TRY(hg_ml_transform_of(n, &transform));
    HG_TRY(hg_ml_features(n, -1));
    hg_ml_infer_classes(n, labels, labels->count == 1 ? 2 : (int64_t)labels->count);
    return HOLO_OK;
}

/* The only class that gets votes, or -1. */
static int64_t treeensembleclassifier_only(const hg_node *n)
{
    const hg_attr *ids = hg_ml_node_list(n, "class_ids");
    for (size_t i = 1; i < ids->count; i++)
        if (ids->ints[i] != ids->ints[0]) return -1;
    return ids->count == 0 ? -1 : ids->ints[0];
}

/* [s] as two columns. */
static hg_value_id treeensembleclassifier_pair(hg_build *b, hg_value_id s, hg_ml_transform t)
{
    hg_value_id one = hg_build_scalar(b, hg_build_type(b, s)->dtype, 1.0);
    const bool is_share = t == HG_ML_NONE || t == HG_ML_PROBIT;
    return hg_ml_pair(b, is_share ? hg_build_2(b, "Sub", one, s) : hg_build_1(b, "Neg", s), s);
}

static hg_value_id treeensembleclassifier_column(hg_build *b, hg_value_id scores, int64_t column)
{
    const hg_attr axis = hg_attr_make_int("axis", 1);
    hg_value_id in[2] = {scores, hg_build_ints(b, &column, 1)};
    return hg_build_op(b, "Gather", in, 2, &axis, 1);
}

static holo_status treeensembleclassifier_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_ml_transform transform = hg_ml_node_transform(b->node);
    const int64_t only = treeensembleclassifier_only(b->node);
    const hg_attr *labels;
    hg_attr two;
    hg_value_id base;
    HG_TRY(treeensembleclassifier_labels(&n, &labels));
    HG_TRY(hg_ml_label_or_none(b->ctx, labels, &two));
    hg_trees trees = {.n_target = (int64_t)labels->count};
    HG_TRY(hg_tree_read_listed(&n, "class", &trees));
    HG_TRY(hg_tree_base(b, trees.n_target, &base));
    hg_value_id s = hg_tree_scores(b, &trees, hg_tree_matrix(b), HG_TREE_SUM, 0.0);
    if (base != 0) s = hg_build_2(b, "Add", s, hg_build_cast(b, base, hg_build_type(b, s)->dtype));
    if (labels->count == 1 || (labels->count == 2 && only >= 0)) {
        if (labels->count == 2) s = treeensembleclassifier_column(b, s, only);
        s = treeensembleclassifier_pair(b, s, transform);
    }
    return hg_ml_classify(b, &two, s, transform);
}

const hg_op hg_op_ml_treeensembleclassifier = {
    .name = "TreeEnsembleClassifier",
    .domain = "ai.onnx.ml",
    .brief = "the label with the highest score by decision trees",
    .since = 1,
    .version = 3,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_ML_TYPES,
    .infer = treeensembleclassifier_infer,
    .lower = treeensembleclassifier_lower,
};
