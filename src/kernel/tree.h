/* tree.h - numbers that the tree kernel and the operators that use it agree on. */
#ifndef HG_KERNEL_TREE_H
#define HG_KERNEL_TREE_H

#include "isa/kernel.h"

/* What the true way asks of a feature. The standard's numbers. */
typedef enum hg_tree_mode {
    HG_TREE_LEQ,
    HG_TREE_LT,
    HG_TREE_GTE,
    HG_TREE_GT,
    HG_TREE_EQ,
    HG_TREE_NEQ,
    HG_TREE_MODES
} hg_tree_mode;

/* How the votes for a target become its score. The standard's numbers. */
typedef enum hg_tree_aggregate {
    HG_TREE_AVERAGE,
    HG_TREE_SUM,
    HG_TREE_MIN,
    HG_TREE_MAX,
    HG_TREE_AGGREGATES
} hg_tree_aggregate;

/* One row of the node table. */
enum {
    HG_TREE_FEATURE,
    HG_TREE_MODE, /* + HG_TREE_MODES when NaN goes the true way, which it else does not */
    HG_TREE_TRUE, /* a node further down; a leaf k is -1 - k */
    HG_TREE_FALSE,
    HG_TREE_FIELDS
};

/* Trees can be compared instead of walked (backend/cpu/avx2/tree.c): how, in one row for each tree.
 */
enum {
    HG_TREE_PLAN_TEST,   /* the first of its tests */
    HG_TREE_PLAN_TESTS,  /* -1: rows walk */
    HG_TREE_PLAN_LEAF,   /* the first of its leaves */
    HG_TREE_PLAN_LEAVES, /* 1 to HG_TREE_PLAN_MOST */
    HG_TREE_PLAN_SINGLE, /* 1: each leaf has one vote, whose number stands in place of the leaf's */
    HG_TREE_PLAN_FIELDS
};
enum { HG_TREE_PLAN_MOST = 64 };

/* One row of the table of tests: rows with x > split lose leaves of their tree, or those with
 * x != split. */
enum {
    HG_TREE_TEST_SPLIT,   /* bits of a float32 */
    HG_TREE_TEST_FEATURE, /* ~feature: x != split */
    HG_TREE_TEST_LOW,     /* a bit for each leaf that is lost: 0 to 31, 32 to 63 */
    HG_TREE_TEST_HIGH,
    HG_TREE_TEST_FIELDS
};

/* One row of the table of steps, one for each node: what a row of floats that are no NaN does
 * there. Behind them second steps, of nodes that ask for equality; the last row is no step, its
 * feature is the largest of all.
 */
enum {
    HG_TREE_STEP_SPLIT, /* bits of a float32 */
    HG_TREE_STEP_FEATURE,
    HG_TREE_STEP_UPTO, /* the way of x <= split: a step, or a leaf as in the node table */
    HG_TREE_STEP_ABOVE,
    HG_TREE_STEP_FIELDS
};

/* Places of the inputs; plans, tests and leaves are there together or not at all, steps only with
 * them. */
enum {
    HG_TREE_IN_X,
    HG_TREE_IN_NODES,
    HG_TREE_IN_SPLITS,
    HG_TREE_IN_ROOTS,
    HG_TREE_IN_FIRST,
    HG_TREE_IN_TARGETS,
    HG_TREE_IN_WEIGHTS,
    HG_TREE_IN_PLANS,
    HG_TREE_IN_TESTS,
    HG_TREE_IN_LEAVES,
    HG_TREE_IN_STEPS,
    HG_TREE_INS
};

/* What every variant of the kernel shares; checked arguments only. Scratch of at most
 * HG_TREE_ROWS rows that walk together: their scores. */
enum { HG_TREE_ROWS = 32 };
holo_status hg_tree_check(const hg_args *a, holo_error *e);
int64_t hg_tree_units(const hg_args *a);
size_t hg_tree_scratch(const hg_args *a);
void hg_tree_cost(const hg_args *a, hg_cost *cost);
void hg_tree_run(const hg_args *a, hg_range r);
/* Rows [begin, end), HG_TREE_ROWS at most, walk down some trees and vote; score is [rows, targets].
 */
void hg_tree_walk(const hg_args *a, int64_t begin, int64_t end, int64_t tree, int64_t trees,
                  double *score);
/* The votes of a leaf for one row, whose scores are given. */
void hg_tree_votes(const hg_args *a, int64_t row, int64_t leaf, double *score);
/* Scores before the first vote, and what becomes of them in the end. */
void hg_tree_begin(const hg_args *a, int64_t rows, double *score);
void hg_tree_end(const hg_args *a, int64_t begin, int64_t end, const double *score);

#endif
