/* treeensemble.c - TreeEnsemble: scores of rows by decision trees, transformed. Nodes and leaves
 * are two lists; a node may ask whether a feature is in a set.
 *
 * A set becomes a search tree: nodes that ask for less lead to nodes that ask for one member each.
 * A NaN goes to any of them and from there the way it went before. */
#include "kernel/order.h"
#include "op/op_tree.h"

#include <math.h>
#include <stdlib.h>

enum { TREEENSEMBLE_MEMBER = 6 };

typedef struct treeensemble {
    const hg_infer *n;
    hg_trees *out;
    size_t count;
    const int64_t *feature, *way[2], *is_leaf[2], *nan_is_true;
    double *mode, *split, *member;
    size_t n_member;
} treeensemble;

static holo_status treeensemble_infer(hg_infer *n)
{
    int64_t targets, aggregate, transform;
    HG_TRY(hg_attr_int(n, "n_targets", 1, &targets));
    HG_TRY(hg_attr_int(n, "aggregate_function", HG_TREE_SUM, &aggregate));
    HG_TRY(hg_attr_int(n, "post_transform", HG_ML_NONE, &transform));
    if (targets < 1 || targets > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "n_targets is %lld, expected 1 to %d",
                             (long long)targets, INT32_MAX);
    if (aggregate < 0 || aggregate >= HG_TREE_AGGREGATES)
        return hg_infer_fail(n, HOLO_E_MODEL, "aggregate_function is %lld, expected 0 to %d",
                             (long long)aggregate, HG_TREE_AGGREGATES - 1);
    if (transform < 0 || transform > HG_ML_PROBIT)
        return hg_infer_fail(n, HOLO_E_MODEL, "post_transform is %lld, expected 0 to %d",
                             (long long)transform, HG_ML_PROBIT);
    HG_TRY(hg_infer_rank(n, 0, 2, 2));
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dim[1] = hg_dim_const(n->dims, targets);
    return HOLO_OK;
}

/* ---- lists
 * -------------------------------------------------------------------------------------------- */

static holo_status treeensemble_attributes(treeensemble *t)
{
    const hg_infer *n = t->n;
    size_t modes;
    HG_TRY(hg_tree_numbers(n, NULL, "nodes_splits", &t->split, &t->count));
    if (t->count == 0 || t->count > INT32_MAX / 4)
        return hg_infer_fail(n, HOLO_E_MODEL, "nodes_splits has %zu entries, expected 1 to %d",
                             t->count, INT32_MAX / 4);
    HG_TRY(hg_tree_numbers(n, NULL, "nodes_modes", &t->mode, &modes));
    HG_TRY(hg_tree_length(n, "nodes_modes", modes, t->count));
    HG_TRY(hg_tree_integers(n, "nodes_featureids", t->count, true, &t->feature));
    HG_TRY(hg_tree_integers(n, "nodes_truenodeids", t->count, true, &t->way[0]));
    HG_TRY(hg_tree_integers(n, "nodes_falsenodeids", t->count, true, &t->way[1]));
    HG_TRY(hg_tree_integers(n, "nodes_trueleafs", t->count, true, &t->is_leaf[0]));
    HG_TRY(hg_tree_integers(n, "nodes_falseleafs", t->count, true, &t->is_leaf[1]));
    HG_TRY(
        hg_tree_integers(n, "nodes_missing_value_tracks_true", t->count, false, &t->nan_is_true));
    return hg_tree_numbers(n, NULL, "membership_values", &t->member, &t->n_member);
}

static holo_status treeensemble_votes(treeensemble *t)
{
    hg_trees *out = t->out;
    const int64_t *target;
    HG_TRY(hg_tree_numbers(t->n, NULL, "leaf_weights", &out->weight, &out->n_vote));
    HG_TRY(hg_tree_integers(t->n, "leaf_targetids", out->n_vote, true, &target));
    out->n_leaf = out->n_vote;
    HG_TRY(HG_NEW(t->n->ctx, out->n_leaf + 1, &out->first));
    HG_TRY(HG_NEW(t->n->ctx, out->n_leaf + 1, &out->target));
    for (size_t i = 0; i < out->n_leaf; i++) {
        if (target[i] < 0 || target[i] >= out->n_target)
            return hg_infer_fail(t->n, HOLO_E_MODEL,
                                 "leaf_targetids[%zu] is %lld, expected 0 to "
                                 "%lld",
                                 i, (long long)target[i], (long long)out->n_target - 1);
        out->target[i] = (int32_t)target[i];
        out->first[i + 1] = (int32_t)(i + 1);
    }
    return HOLO_OK;
}

static holo_status treeensemble_way(const treeensemble *t, size_t i, int w, int64_t *out)
{
    static const char *const name[2] = {"nodes_truenodeids", "nodes_falsenodeids"};
    const bool leaf = t->is_leaf[w][i] != 0;
    const int64_t way = t->way[w][i], count = (int64_t)(leaf ? t->out->n_leaf : t->count);
    if (way < 0 || way >= count)
        return hg_infer_fail(t->n, HOLO_E_MODEL, "%s[%zu] is %lld, expected one of %lld %s",
                             name[w], i, (long long)way, (long long)count,
                             leaf ? "leaves" : "nodes");
    *out = leaf ? -1 - way : way;
    return HOLO_OK;
}

static holo_status treeensemble_roots(treeensemble *t)
{
    const hg_attr *roots;
    HG_TRY(hg_ml_list(t->n, "tree_roots", HG_ATTR_INTS, &roots));
    HG_TRY(HG_NEW(t->n->ctx, roots->count + 1, &t->out->root));
    for (size_t i = 0; i < roots->count; i++) {
        if (roots->ints[i] < 0 || (size_t)roots->ints[i] >= t->count)
            return hg_infer_fail(t->n, HOLO_E_MODEL, "tree_roots[%zu] is %lld, expected 0 to %zu",
                                 i, (long long)roots->ints[i], t->count - 1);
        t->out->root[i] = roots->ints[i];
    }
    t->out->n_root = roots->count;
    return HOLO_OK;
}

/* ---- sets
 * -------------------------------------------------------------------------------------------- */

static int treeensemble_compare(const void *p, const void *q)
{
    return hg_order_f64(*(const double *)p, *(const double *)q);
}

/* A node made for a set: a copy of the one that asks for it. */
static int64_t treeensemble_add(treeensemble *t, const hg_tree_node *like)
{
    t->out->node[t->out->n_node] = *like;
    return (int64_t)t->out->n_node++;
}

/* Node `at` becomes the search tree of members[0, count); as deep as count has binary digits. */
static void treeensemble_search(treeensemble *t, int64_t at, const double *member, size_t count)
{
    const hg_tree_node like = t->out->node[at];
    hg_tree_node *node = &t->out->node[at];
    const size_t half = count / 2;
    node->mode = count < 2 ? HG_TREE_EQ : HG_TREE_LT;
    node->split = count == 0 ? NAN : member[half];
    if (count < 2) return;
    node->way[0] = treeensemble_add(t, &like);
    node->way[1] = treeensemble_add(t, &like);
    const int64_t below = node->way[0], above = node->way[1];
    treeensemble_search(t, below, member, half);
    treeensemble_search(t, above, member + half, count - half);
}

/* The members up to the next NaN belong to node `at`. */
static holo_status treeensemble_set(treeensemble *t, size_t at, size_t *next)
{
    double *member = t->member + *next;
    size_t count = 0, distinct = 0;
    if (*next >= t->n_member)
        return hg_infer_fail(t->n, HOLO_E_MODEL, "membership_values has no set for the node at %zu",
                             at);
    while (*next < t->n_member && t->member[*next] == t->member[*next]) {
        ++*next;
        count++;
    }
    ++*next; /* the NaN */
    qsort(member, count, sizeof *member, treeensemble_compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || member[i] != member[i - 1]) member[distinct++] = member[i];
    treeensemble_search(t, (int64_t)at, member, distinct);
    return HOLO_OK;
}

/* ---- nodes
 * -------------------------------------------------------------------------------------------- */

static holo_status treeensemble_nodes(treeensemble *t)
{
    size_t next = 0;
    /* A set of m members takes 2 m - 1 nodes. */
    HG_TRY(HG_NEW(t->n->ctx, t->count + 2 * t->n_member + 1, &t->out->node));
    t->out->n_node = t->count;
    for (size_t i = 0; i < t->count; i++) {
        hg_tree_node *node = &t->out->node[i];
        if (t->mode[i] > (double)TREEENSEMBLE_MEMBER)
            return hg_infer_fail(t->n, HOLO_E_MODEL, "nodes_modes[%zu] is %g, expected 0 to %d", i,
                                 t->mode[i], TREEENSEMBLE_MEMBER);
        *node = (hg_tree_node){.feature = t->feature[i],
                               .split = t->split[i],
                               .entry = i,
                               .mode = (hg_tree_mode)t->mode[i],
                               .nan_is_true = t->nan_is_true[i] != 0};
        HG_TRY(treeensemble_way(t, i, 0, &node->way[0]));
        HG_TRY(treeensemble_way(t, i, 1, &node->way[1]));
        if (t->mode[i] == (double)TREEENSEMBLE_MEMBER) HG_TRY(treeensemble_set(t, i, &next));
    }
    if (next < t->n_member)
        return hg_infer_fail(t->n, HOLO_E_MODEL,
                             "membership_values has %zu entries, the sets of all nodes take %zu",
                             t->n_member, next);
    return HOLO_OK;
}

static holo_status treeensemble_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_tree_aggregate aggregate =
        (hg_tree_aggregate)hg_node_int(b->node, "aggregate_function", HG_TREE_SUM);
    const hg_ml_transform transform =
        (hg_ml_transform)hg_node_int(b->node, "post_transform", HG_ML_NONE);
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, 0))->dtype;
    hg_trees trees = {.n_target = hg_node_int(b->node, "n_targets", 1)};
    treeensemble t = {.n = &n, .out = &trees};
    HG_TRY(treeensemble_attributes(&t));
    HG_TRY(treeensemble_votes(&t));
    HG_TRY(treeensemble_nodes(&t));
    HG_TRY(treeensemble_roots(&t));
    hg_value_id y =
        hg_tree_scores(b, &trees, hg_tree_matrix(b), aggregate, hg_tree_start(aggregate, dtype));
    hg_build_replace(b, 0, hg_build_cast(b, hg_ml_transformed(b, y, transform), dtype));
    return b->status;
}

const hg_op hg_op_ml_treeensemble = {
    .name = "TreeEnsemble",
    .domain = "ai.onnx.ml",
    .brief = "scores of rows by decision trees",
    .since = 5,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_F16),
    .infer = treeensemble_infer,
    .lower = treeensemble_lower,
};
