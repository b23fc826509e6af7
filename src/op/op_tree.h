/* op_tree.h - decision trees as the operators describe them, and the one form they are lowered to.
 */
#ifndef HG_OP_OP_TREE_H
#define HG_OP_OP_TREE_H

#include "kernel/tree.h"
#include "op/op_ml.h"

typedef struct hg_tree_node {
    int64_t feature;
    int64_t way[2]; /* true, false: a node, or -1 - k for leaf k */
    double split;
    size_t entry; /* in the lists it was read from; for messages */
    hg_tree_mode mode;
    bool nan_is_true; /* NaN goes the true way */
} hg_tree_node;

typedef struct hg_trees {
    hg_tree_node *node;
    size_t n_node;
    int64_t *root; /* like a way */
    size_t n_root;
    int32_t *first; /* n_leaf + 1: the first vote of each leaf */
    size_t n_leaf;
    int32_t *target;
    double *weight;
    size_t n_vote;
    int64_t n_target;
} hg_trees;

/* Tables of the kernel: nodes in an order in which every way leads further down. */
typedef struct hg_tree_tables {
    const int32_t *node, *root, *first;
    const double *split;
    size_t n_node, n_root;
} hg_tree_tables;

/* Those that let it compare rows instead of walking. */
typedef struct hg_tree_plans {
    int32_t *plan; /* n_root rows */
    int32_t *test; /* room for n_node rows */
    int32_t *leaf; /* room for n_node + n_root */
    int32_t *step; /* room for 2 n_node + 1 rows */
    size_t n_test, n_leaf, n_step;
    bool has_steps; /* every node has one */
} hg_tree_plans;

/* adds: votes are added. A tree that cannot be compared walks. */
void hg_tree_plan(const hg_tree_tables *tables, bool adds, hg_tree_plans *out);

/* Numbers of a list of floats, or of the tensor that may stand in its place; 1-D. */
HG_MUST_CHECK holo_status hg_tree_numbers(const hg_infer *n, const char *list, const char *tensor,
                                          double **out, size_t *count);
/* A list of integers that has `count` entries; when it is absent and not needed, all are 0. */
HG_MUST_CHECK holo_status hg_tree_integers(const hg_infer *n, const char *name, size_t count,
                                           bool is_needed, const int64_t **out);
/* "nodes_values has 3 entries, expected 5". */
holo_status hg_tree_length(const hg_infer *n, const char *name, size_t actual, size_t expected);

/* Trees as TreeEnsembleClassifier and -Regressor list them, node by node with the number of the
 * tree and its own in it; `votes` is "class" or "target". n_target is set before. */
HG_MUST_CHECK holo_status hg_tree_read_listed(const hg_infer *n, const char *votes, hg_trees *out);

/* Attribute base_values, or the tensor in its place: float64 [1] or [count], 0 when absent. */
HG_MUST_CHECK holo_status hg_tree_base(hg_build *b, int64_t count, hg_value_id *out);

/* Input 0 as the rows that trees compare: float64 stays, all else is float32, as which such models
 * are trained. */
hg_value_id hg_tree_matrix(hg_build *b);
/* Scores [n,n_target] in the type of x. A target without votes has the score `start` (with MIN and
 * MAX the largest and smallest number; 0 otherwise). Refuses trees with cycles and features that x
 * does not have. */
hg_value_id hg_tree_scores(hg_build *b, const hg_trees *trees, hg_value_id x,
                           hg_tree_aggregate aggregate, double start);
/* The score before the first vote, for results of that type. */
double hg_tree_start(hg_tree_aggregate aggregate, holo_dtype dtype);

#endif
