/* op_tree_listed.c - trees as TreeEnsembleClassifier and TreeEnsembleRegressor list them: every
 * node names its tree and its number there, leaves are nodes, votes name the leaf they belong to.
 */
#include "op/op_tree.h"

#include <stdio.h>

typedef struct listed_key {
    int64_t tree, node;
} listed_key;

typedef struct listed {
    const hg_infer *n;
    size_t count;
    const int64_t *tree, *number, *feature, *way[2], *nan_is_true;
    const hg_attr *mode;
    double *split;
    int64_t *slot;   /* of entry i: a node of the result, or -1 - k for leaf k */
    listed_key *key; /* what `place` points to */
    hg_map place;    /* tree and number to entry + 1 */
    hg_trees *out;
} listed;

static uint32_t listed_find(const listed *l, int64_t tree, int64_t node)
{
    const listed_key key = {tree, node};
    return hg_map_get(&l->place, (hg_str){(const char *)&key, sizeof key});
}

/* ---- nodes
 * -------------------------------------------------------------------------------------------- */

static holo_status listed_attributes(listed *l)
{
    const hg_infer *n = l->n;
    const hg_attr *numbers;
    size_t splits;
    HG_TRY(hg_ml_list(n, "nodes_nodeids", HG_ATTR_INTS, &numbers));
    l->count = numbers->count;
    l->number = numbers->ints;
    if (l->count == 0 || l->count > INT32_MAX / 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "nodes_nodeids has %zu entries, expected 1 to %d",
                             l->count, INT32_MAX / 2);
    HG_TRY(hg_tree_integers(n, "nodes_treeids", l->count, true, &l->tree));
    HG_TRY(hg_tree_integers(n, "nodes_featureids", l->count, true, &l->feature));
    HG_TRY(hg_tree_integers(n, "nodes_truenodeids", l->count, true, &l->way[0]));
    HG_TRY(hg_tree_integers(n, "nodes_falsenodeids", l->count, true, &l->way[1]));
    HG_TRY(
        hg_tree_integers(n, "nodes_missing_value_tracks_true", l->count, false, &l->nan_is_true));
    HG_TRY(hg_ml_list(n, "nodes_modes", HG_ATTR_STRINGS, &l->mode));
    HG_TRY(hg_tree_length(n, "nodes_modes", l->mode->count, l->count));
    HG_TRY(hg_tree_numbers(n, "nodes_values", "nodes_values_as_tensor", &l->split, &splits));
    return hg_tree_length(n, "nodes_values", splits, l->count);
}

/* HG_TREE_MODES: a leaf. */
static holo_status listed_mode(const listed *l, size_t i, hg_tree_mode *out)
{
    static const char *const name[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                       "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
    for (size_t k = 0; k < HG_COUNT(name); k++) {
        *out = (hg_tree_mode)k;
        if (hg_str_is(l->mode->strings[i], name[k])) return HOLO_OK;
    }
    return hg_infer_fail(l->n, HOLO_E_MODEL,
                         "nodes_modes[%zu] is \"%.*s\", expected BRANCH_LEQ, BRANCH_LT, "
                         "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF",
                         i, HG_STR_ARG(l->mode->strings[i]));
}

/* Gives every entry its slot and its place; the first entry of a tree is its root. */
static holo_status listed_slots(listed *l)
{
    hg_trees *t = l->out;
    hg_map root;
    hg_map_init(&root, &l->n->ctx->arena);
    hg_map_init(&l->place, &l->n->ctx->arena);
    for (size_t i = 0; i < l->count; i++) {
        hg_tree_mode mode;
        HG_TRY(listed_mode(l, i, &mode));
        l->slot[i] = mode == HG_TREE_MODES ? -1 - (int64_t)t->n_leaf++ : (int64_t)t->n_node++;
        if (mode != HG_TREE_MODES) t->node[l->slot[i]].mode = mode;
        if (listed_find(l, l->tree[i], l->number[i]) != 0)
            return hg_infer_fail(l->n, HOLO_E_MODEL,
                                 "nodes_nodeids[%zu] is %lld, tree %lld has "
                                 "that node already",
                                 i, (long long)l->number[i], (long long)l->tree[i]);
        l->key[i] = (listed_key){l->tree[i], l->number[i]};
        const hg_str tree = {(const char *)&l->key[i].tree, sizeof l->key[i].tree};
        const hg_str all = {(const char *)&l->key[i], sizeof l->key[i]};
        if (hg_map_get(&root, tree) == 0) t->root[t->n_root++] = l->slot[i];
        if (!hg_map_set(&root, tree, 1) || !hg_map_set(&l->place, all, (uint32_t)i + 1))
            return hg_fail_nomem(l->n->ctx->error, sizeof(hg_map_slot));
    }
    return HOLO_OK;
}

static holo_status listed_nodes(listed *l)
{
    static const char *const name[2] = {"nodes_truenodeids", "nodes_falsenodeids"};
    for (size_t i = 0; i < l->count; i++) {
        if (l->slot[i] < 0) continue;
        hg_tree_node *node = &l->out->node[l->slot[i]];
        node->entry = i;
        node->feature = l->feature[i];
        node->split = l->split[i];
        node->nan_is_true = l->nan_is_true[i] != 0;
        for (int w = 0; w < 2; w++) {
            const uint32_t found = listed_find(l, l->tree[i], l->way[w][i]);
            if (found == 0)
                return hg_infer_fail(l->n, HOLO_E_MODEL,
                                     "%s[%zu] is %lld, tree %lld has no such "
                                     "node",
                                     name[w], i, (long long)l->way[w][i], (long long)l->tree[i]);
            node->way[w] = l->slot[found - 1];
        }
    }
    return HOLO_OK;
}

/* ---- votes
 * -------------------------------------------------------------------------------------------- */

typedef struct listed_votes {
    char name[4][32]; /* treeids, nodeids, ids, weights */
    const int64_t *tree, *node, *id;
    double *weight;
    size_t count;
} listed_votes;

static holo_status listed_read_votes(const listed *l, const char *votes, listed_votes *v)
{
    static const char *const part[4] = {"treeids", "nodeids", "ids", "weights"};
    char tensor[48];
    for (int i = 0; i < 4; i++)
        snprintf(v->name[i], sizeof v->name[i], "%s_%s", votes, part[i]);
    snprintf(tensor, sizeof tensor, "%s_as_tensor", v->name[3]);
    HG_TRY(hg_tree_numbers(l->n, v->name[3], tensor, &v->weight, &v->count));
    HG_TRY(hg_tree_integers(l->n, v->name[0], v->count, true, &v->tree));
    HG_TRY(hg_tree_integers(l->n, v->name[1], v->count, true, &v->node));
    return hg_tree_integers(l->n, v->name[2], v->count, true, &v->id);
}

/* The leaf of vote i, -1 when it belongs to a node that is none: nobody ever casts that one. */
static holo_status listed_leaf(const listed *l, const listed_votes *v, size_t i, int64_t *leaf)
{
    const uint32_t found = listed_find(l, v->tree[i], v->node[i]);
    if (found == 0)
        return hg_infer_fail(l->n, HOLO_E_MODEL, "%s[%zu] is %lld, tree %lld has no such node",
                             v->name[1], i, (long long)v->node[i], (long long)v->tree[i]);
    if (v->id[i] < 0 || v->id[i] >= l->out->n_target)
        return hg_infer_fail(l->n, HOLO_E_MODEL, "%s[%zu] is %lld, expected 0 to %lld", v->name[2],
                             i, (long long)v->id[i], (long long)l->out->n_target - 1);
    const int64_t slot = l->slot[found - 1];
    *leaf = slot < 0 ? -1 - slot : -1;
    return HOLO_OK;
}

/* Votes leaf by leaf: a counting sort that keeps their order. */
static holo_status listed_sort_votes(const listed *l, const listed_votes *v)
{
    hg_trees *t = l->out;
    int32_t *next;
    int64_t leaf;
    HG_TRY(HG_NEW(l->n->ctx, t->n_leaf + 1, &t->first));
    HG_TRY(HG_NEW(l->n->ctx, t->n_leaf + 1, &next));
    HG_TRY(HG_NEW(l->n->ctx, v->count + 1, &t->target));
    HG_TRY(HG_NEW(l->n->ctx, v->count + 1, &t->weight));
    for (size_t i = 0; i < v->count; i++) {
        HG_TRY(listed_leaf(l, v, i, &leaf));
        if (leaf >= 0) t->first[leaf + 1]++;
    }
    for (size_t i = 0; i < t->n_leaf; i++) {
        t->first[i + 1] += t->first[i];
        next[i] = t->first[i];
    }
    t->n_vote = (size_t)t->first[t->n_leaf];
    for (size_t i = 0; i < v->count; i++) {
        HG_TRY(listed_leaf(l, v, i, &leaf));
        if (leaf < 0) continue;
        t->target[next[leaf]] = (int32_t)v->id[i];
        t->weight[next[leaf]++] = v->weight[i];
    }
    return HOLO_OK;
}

holo_status hg_tree_read_listed(const hg_infer *n, const char *votes, hg_trees *out)
{
    listed l = {.n = n, .out = out};
    listed_votes v;
    HG_TRY(listed_attributes(&l));
    HG_TRY(HG_NEW(n->ctx, l.count, &l.slot));
    HG_TRY(HG_NEW(n->ctx, l.count, &l.key));
    HG_TRY(HG_NEW(n->ctx, l.count, &out->node));
    HG_TRY(HG_NEW(n->ctx, l.count, &out->root));
    HG_TRY(listed_slots(&l));
    HG_TRY(listed_nodes(&l));
    HG_TRY(listed_read_votes(&l, votes, &v));
    return listed_sort_votes(&l, &v);
}
