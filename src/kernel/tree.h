/* tree.h - numbers that the tree kernel and the operators that use it agree on. */
#ifndef HG_KERNEL_TREE_H
#define HG_KERNEL_TREE_H

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

#endif
