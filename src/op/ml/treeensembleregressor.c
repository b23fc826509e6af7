/* treeensembleregressor.c - TreeEnsembleRegressor: scores of rows by decision trees, plus base
 * values, transformed, as float32. The transform is applied to one target as to several. */
#include "op/op_tree.h"

static holo_status treeensembleregressor_aggregate(const hg_infer *n, hg_tree_aggregate *out)
{
    static const char *const name[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    hg_str text;
    HG_TRY(hg_attr_string(n, "aggregate_function", "SUM", &text));
    for (size_t i = 0; i < HG_COUNT(name); i++) {
        *out = (hg_tree_aggregate)i;
        if (hg_str_is(text, name[i])) return HOLO_OK;
    }
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "aggregate_function is \"%.*s\", expected AVERAGE, SUM, MIN or MAX",
                         HG_STR_ARG(text));
}

static holo_status treeensembleregressor_infer(hg_infer *n)
{
    hg_tree_aggregate aggregate;
    hg_ml_transform transform;
    int64_t targets;
    HG_TRY(treeensembleregressor_aggregate(n, &aggregate));
    HG_TRY(hg_ml_transform_of(n, &transform));
    HG_TRY(hg_attr_int(n, "n_targets", 1, &targets));
    if (targets < 1 || targets > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "n_targets is %lld, expected 1 to %d",
                             (long long)targets, INT32_MAX);
    HG_TRY(hg_ml_features(n, -1));
    n->out[0] = (hg_type){.dtype = HOLO_F32, .rank = 2};
    n->out[0].dim[0] = hg_ml_rows(n);
    n->out[0].dim[1] = hg_dim_const(n->dims, targets);
    return HOLO_OK;
}

static holo_status treeensembleregressor_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_ml_transform transform = hg_ml_node_transform(b->node);
    hg_trees trees = {.n_target = hg_node_int(b->node, "n_targets", 1)};
    hg_tree_aggregate aggregate;
    hg_value_id base;
    HG_TRY(treeensembleregressor_aggregate(&n, &aggregate));
    HG_TRY(hg_tree_read_listed(&n, "target", &trees));
    HG_TRY(hg_tree_base(b, trees.n_target, &base));
    hg_value_id x = hg_tree_matrix(b);
    hg_value_id y = hg_tree_scores(b, &trees, x, aggregate, hg_tree_start(aggregate, HOLO_F32));
    if (base != 0) y = hg_build_2(b, "Add", y, hg_build_cast(b, base, hg_build_type(b, y)->dtype));
    return hg_ml_regress(b, y, transform);
}

const hg_op hg_op_ml_treeensembleregressor = {
    .name = "TreeEnsembleRegressor",
    .domain = "ai.onnx.ml",
    .brief = "scores of rows by decision trees",
    .since = 1,
    .version = 3,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES,
    .infer = treeensembleregressor_infer,
    .lower = treeensembleregressor_lower,
};
