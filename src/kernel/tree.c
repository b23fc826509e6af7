/* tree.c - tree: every row walks down all trees; the leaves it reaches vote.
 *
 *   in[0]   features, float32 or float64 [n,f]
 *   in[1]   int32 [nodes,4]: feature, mode, true way, false way (kernel/tree.h)
 *   in[2]   float64 [nodes]: what the feature is compared with
 *   in[3]   int32 [trees]: where each begins, a node or a leaf
 *   in[4]   int32 [leaves + 1]: the first vote of each leaf
 *   in[5]   int32 [votes]: for which target
 *   in[6]   float64 [votes]: weights
 *   param   aggregate; the score (float) before the first vote
 *   out[0]  float32 or float64 [n,targets]
 *
 * Ways lead to nodes with higher numbers, so every walk ends; whatever the tables hold, what they
 * point to is checked on the way. Sums are float64, in the order of the trees. A few rows walk down
 * one tree after the other, so that a tree is read from near memory. */
#include "kernel/tree.h"
#include "isa/kernel.h"

static holo_status tree_check_table(const hg_args *a, holo_error *e, uint32_t i, holo_dtype dtype,
                                    int rank)
{
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(dtype)));
    HG_TRY(hg_check_rank(&a->in[i], e, "a table", rank, rank));
    HG_REQUIRE(e, a->in[i].dim[0] <= INT32_MAX, HOLO_E_LIMIT, "table %u has %lld rows", i,
               (long long)a->in[i].dim[0]);
    return HOLO_OK;
}

static holo_status tree_check(const hg_args *a, holo_error *e)
{
    const hg_types floats = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64);
    HG_TRY(hg_check_counts(a, e, 7, 7, 1, 2));
    HG_TRY(hg_check_in_type(a, e, 0, floats));
    HG_TRY(hg_check_out_type(a, e, 0, floats));
    HG_TRY(hg_check_rank(&a->in[0], e, "the table of features", 2, 2));
    HG_TRY(hg_check_rank(&a->out[0], e, "the output", 2, 2));
    HG_TRY(tree_check_table(a, e, 1, HOLO_I32, 2));
    HG_TRY(tree_check_table(a, e, 2, HOLO_F64, 1));
    for (uint32_t i = 3; i < 6; i++)
        HG_TRY(tree_check_table(a, e, i, HOLO_I32, 1));
    HG_TRY(tree_check_table(a, e, 6, HOLO_F64, 1));
    HG_REQUIRE(e, a->out[0].dim[0] == a->in[0].dim[0], HOLO_E_SHAPE,
               "%lld rows of features, the output has %lld", (long long)a->in[0].dim[0],
               (long long)a->out[0].dim[0]);
    HG_REQUIRE(e, a->in[1].dim[1] == HG_TREE_FIELDS && a->in[1].dim[0] == a->in[2].dim[0],
               HOLO_E_SHAPE, "nodes are [%lld,%lld] for %lld splits", (long long)a->in[1].dim[0],
               (long long)a->in[1].dim[1], (long long)a->in[2].dim[0]);
    HG_REQUIRE(e, a->in[4].dim[0] >= 1, HOLO_E_SHAPE, "the table of leaves is empty");
    HG_TRY(hg_check_same_shape(&a->in[6], &a->in[5], e, "the weights"));
    return hg_check_param(a, e, 0, "aggregate", 0, HG_TREE_AGGREGATES - 1);
}

static int64_t tree_units(const hg_args *a)
{
    return a->out[0].dim[0];
}

enum { TREE_ROWS = 32 /* that walk together */ };

/* Scores of those rows. Without rows there is no telling how large the other dimension is. */
static size_t tree_scratch(const hg_args *a)
{
    const size_t rows = (size_t)(a->out[0].dim[0] < TREE_ROWS ? a->out[0].dim[0] : TREE_ROWS);
    return rows == 0 ? 0 : rows * (size_t)a->out[0].dim[1] * sizeof(double);
}

/* ---- walking
 * -------------------------------------------------------------------------------------------- */

static double tree_feature(const holo_tensor *x, int64_t row, int64_t feature)
{
    const int64_t i = row * x->dim[1] + feature;
    return x->dtype == HOLO_F32 ? (double)((const float *)x->data)[i]
                                : ((const double *)x->data)[i];
}

static bool tree_holds(int32_t mode, double x, double split)
{
    if (x != x) return mode >= HG_TREE_MODES;
    if (mode >= HG_TREE_MODES) mode -= HG_TREE_MODES;
    switch (mode) {
    case HG_TREE_LEQ: return x <= split;
    case HG_TREE_LT: return x < split;
    case HG_TREE_GTE: return x >= split;
    case HG_TREE_GT: return x > split;
    case HG_TREE_EQ: return x == split;
    default: return x != split;
    }
}

/* The leaf that a row reaches, or -1 when the tables are damaged. */
static int64_t tree_walk(const hg_args *a, int64_t row, int32_t at)
{
    const int32_t *table = a->in[1].data;
    const double *split = a->in[2].data;
    const int64_t nodes = a->in[1].dim[0], features = a->in[0].dim[1];
    int64_t last = -1;
    while (at >= 0) {
        if (at >= nodes || at <= last) {
            hg_fault_range(a->fault, "the number of a node", row, at, last + 1, nodes - 1);
            return -1;
        }
        const int32_t *node = table + (int64_t)at * HG_TREE_FIELDS;
        const int32_t feature = node[HG_TREE_FEATURE];
        if (feature < 0 || feature >= features) {
            hg_fault_range(a->fault, "the number of a feature", row, feature, 0, features - 1);
            return -1;
        }
        last = at;
        at = tree_holds(node[HG_TREE_MODE], tree_feature(&a->in[0], row, feature), split[at])
                 ? node[HG_TREE_TRUE]
                 : node[HG_TREE_FALSE];
    }
    return -1 - (int64_t)at;
}

/* ---- voting
 * -------------------------------------------------------------------------------------------- */

static void tree_vote(int64_t aggregate, double weight, double *score)
{
    if (aggregate == HG_TREE_MIN)
        *score = weight < *score ? weight : *score;
    else if (aggregate == HG_TREE_MAX)
        *score = weight > *score ? weight : *score;
    else
        *score += weight;
}

static void tree_votes(const hg_args *a, int64_t row, int64_t leaf, double *score)
{
    const int64_t leaves = a->in[4].dim[0] - 1, votes = a->in[5].dim[0];
    const int64_t targets = a->out[0].dim[1];
    const int32_t *first = a->in[4].data, *target = a->in[5].data;
    const double *weight = a->in[6].data;
    if (leaf >= leaves) {
        hg_fault_range(a->fault, "the number of a leaf", row, leaf, 0, leaves - 1);
        return;
    }
    if (first[leaf] < 0 || first[leaf + 1] > votes) {
        hg_fault_range(a->fault, "the number of a vote", row, first[leaf], 0, votes - 1);
        return;
    }
    for (int32_t k = first[leaf]; k < first[leaf + 1]; k++) {
        if (target[k] < 0 || target[k] >= targets)
            hg_fault_range(a->fault, "the number of a target", row, target[k], 0, targets - 1);
        else
            tree_vote(a->param[0], weight[k], &score[target[k]]);
    }
}

static void tree_store(const hg_args *a, int64_t row, const double *score)
{
    const int64_t targets = a->out[0].dim[1], trees = a->in[3].dim[0];
    const bool average = a->param[0] == HG_TREE_AVERAGE && trees > 0;
    for (int64_t t = 0; t < targets; t++) {
        const double y = average ? score[t] / (double)trees : score[t];
        if (a->out[0].dtype == HOLO_F32)
            ((float *)a->out[0].data)[row * targets + t] = (float)y;
        else
            ((double *)a->out[0].data)[row * targets + t] = y;
    }
}

static void tree_rows(const hg_args *a, int64_t begin, int64_t end, double *score)
{
    const int32_t *root = a->in[3].data;
    const double start = hg_param_f64(a, 1);
    const int64_t targets = a->out[0].dim[1];
    for (int64_t i = 0; i < (end - begin) * targets; i++)
        score[i] = start;
    for (int64_t t = 0; t < a->in[3].dim[0]; t++)
        for (int64_t row = begin; row < end; row++) {
            const int64_t leaf = tree_walk(a, row, root[t]);
            if (leaf >= 0) tree_votes(a, row, leaf, score + (row - begin) * targets);
        }
    for (int64_t row = begin; row < end; row++)
        tree_store(a, row, score + (row - begin) * targets);
}

static void tree_run(const hg_args *a, hg_range r)
{
    for (int64_t row = r.begin; row < r.end; row += TREE_ROWS)
        tree_rows(a, row, hg_min(row + TREE_ROWS, r.end), r.scratch);
}

static void tree_cost(const hg_args *a, hg_cost *cost)
{
    /* About as many steps as a balanced tree is deep. */
    double depth = 1;
    for (double n = (double)a->in[1].dim[0] / (double)(a->in[3].dim[0] + 1); n > 1; n /= 2)
        depth++;
    cost->flops = (double)a->out[0].dim[0] * (double)a->in[3].dim[0] * depth * 4;
}

const hg_kernel hg_kernels_tree[] = {
    {.name = "tree",
     .check = tree_check,
     .units = tree_units,
     .scratch = tree_scratch,
     .cost = tree_cost,
     .run = tree_run},
    {0},
};
