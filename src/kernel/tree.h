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
