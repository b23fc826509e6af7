/* tree.c - tree: every row walks down all trees; the leaves it reaches vote.
 *
 *   in[0]   features, float32 or float64 [n,f]
 *   in[1]   int32 [nodes,4]: feature, mode, true way, false way (kernel/tree.h)
 *   in[2]   float64 [nodes]: what the feature is compared with
 *   in[3]   int32 [trees]: where each begins, a node or a leaf
 *   in[4]   int32 [leaves + 1]: the first vote of each leaf
 *   in[5]   int32 [votes]: for which target
 *   in[6]   float64 [votes]: weights
 *   in[7]   int32 [trees,5], in[8] int32 [tests,4], in[9] int32 [leaves]: how trees are compared
 *           instead (kernel/tree.h); all three or none, and nothing here needs them
 *   in[10]  int32 [nodes or more,4]: what rows without NaN do at each node (kernel/tree.h); may be
 *           absent
 *   param   aggregate; the score (float) before the first vote
 *   out[0]  float32 or float64 [n,targets]
 *
 * Ways lead to nodes with higher numbers, so every walk ends; whatever the tables hold, what they
 * point to is checked on the way. Sums are float64, in the order of the trees. A few rows walk down
 * one tree after the other, so that a tree is read from near memory. */
#include "kernel/tree.h"

static holo_status tree_check_table(const hg_args *a, holo_error *e, uint32_t i, holo_dtype dtype,
                                    int rank)
{
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(dtype)));
    HG_TRY(hg_check_rank(&a->in[i], e, "a table", rank, rank));
    HG_REQUIRE(e, a->in[i].dim[0] <= INT32_MAX, HOLO_E_LIMIT, "table %u has %lld rows", i,
               (long long)a->in[i].dim[0]);
    return HOLO_OK;
}

static holo_status tree_check_plans(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_in == HG_TREE_IN_PLANS || a->n_in >= HG_TREE_IN_STEPS, HOLO_E_FORMAT,
               "%u inputs, expected %d, %d or %d", a->n_in, HG_TREE_IN_PLANS, HG_TREE_IN_STEPS,
               HG_TREE_INS);
    if (a->n_in == HG_TREE_IN_PLANS) return HOLO_OK;
    HG_TRY(tree_check_table(a, e, HG_TREE_IN_PLANS, HOLO_I32, 2));
    HG_TRY(tree_check_table(a, e, HG_TREE_IN_TESTS, HOLO_I32, 2));
    HG_TRY(tree_check_table(a, e, HG_TREE_IN_LEAVES, HOLO_I32, 1));
    const int64_t *plans = a->in[HG_TREE_IN_PLANS].dim, *tests = a->in[HG_TREE_IN_TESTS].dim;
    HG_REQUIRE(e,
               plans[0] == a->in[HG_TREE_IN_ROOTS].dim[0] && plans[1] == HG_TREE_PLAN_FIELDS &&
                   tests[1] == HG_TREE_TEST_FIELDS,
               HOLO_E_SHAPE, "plans are [%lld,%lld] and tests [%lld,%lld] for %lld trees",
               (long long)plans[0], (long long)plans[1], (long long)tests[0], (long long)tests[1],
               (long long)a->in[HG_TREE_IN_ROOTS].dim[0]);
    if (a->n_in == HG_TREE_IN_STEPS) return HOLO_OK;
    HG_TRY(tree_check_table(a, e, HG_TREE_IN_STEPS, HOLO_I32, 2));
    const int64_t *steps = a->in[HG_TREE_IN_STEPS].dim, nodes = a->in[HG_TREE_IN_NODES].dim[0];
    HG_REQUIRE(e, steps[0] >= nodes && steps[1] == HG_TREE_STEP_FIELDS, HOLO_E_SHAPE,
               "steps are [%lld,%lld] for %lld nodes", (long long)steps[0], (long long)steps[1],
               (long long)nodes);
    return HOLO_OK;
}

holo_status hg_tree_check(const hg_args *a, holo_error *e)
{
    const hg_types floats = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64);
    HG_TRY(hg_check_counts(a, e, 7, HG_TREE_INS, 1, 2));
    HG_TRY(tree_check_plans(a, e));
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

int64_t hg_tree_units(const hg_args *a)
{
    return a->out[0].dim[0];
}

enum {
    TREE_TOGETHER = 4,    /* fewer rows walk one by one */
    TREE_LOST = INT32_MIN /* a leaf that no table has */
};

/* Scores of those rows. Without rows there is no telling how large the other dimension is. */
size_t hg_tree_scratch(const hg_args *a)
{
    const size_t rows = (size_t)(a->out[0].dim[0] < HG_TREE_ROWS ? a->out[0].dim[0] : HG_TREE_ROWS);
    return rows == 0 ? 0 : rows * (size_t)a->out[0].dim[1] * sizeof(double);
}

/* ---- walking
 * -------------------------------------------------------------------------------------------- */

/* Where x lies from a split, as a bit: below, at, above; neither, since x is NaN or the split is.
 */
enum { TREE_BELOW = 1, TREE_AT = 2, TREE_ABOVE = 4, TREE_NAN = 8, TREE_NAN_SPLIT = 16 };

/* For which of these each mode takes the true way; a second time for those where NaN does. */
static const uint8_t tree_true[2 * HG_TREE_MODES] = {
    TREE_BELOW | TREE_AT,
    TREE_BELOW,
    TREE_AT | TREE_ABOVE,
    TREE_ABOVE,
    TREE_AT,
    TREE_BELOW | TREE_ABOVE | TREE_NAN_SPLIT,
    TREE_BELOW | TREE_AT | TREE_NAN,
    TREE_BELOW | TREE_NAN,
    TREE_AT | TREE_ABOVE | TREE_NAN,
    TREE_ABOVE | TREE_NAN,
    TREE_AT | TREE_NAN,
    TREE_BELOW | TREE_ABOVE | TREE_NAN_SPLIT | TREE_NAN,
};

/* 1 for the true way. Nobody can guess it: there is nothing to branch on. */
HG_INLINE int tree_holds(int32_t mode, double x, double split)
{
    const int none = 4 - 4 * (x < split) - 3 * (x == split) - 2 * (x > split) - (x != x);
    return tree_true[mode] >> none & 1;
}

/* The tables, and the rows that walk. */
typedef struct tree_forest {
    const int32_t *node;
    const double *split;
    const float *x32; /* the features of the first row, or x64 */
    const double *x64;
    int64_t features, row;
    uint32_t n_node, n_feature;
    hg_fault *fault;
} tree_forest;

/* The way down from node `at`, or TREE_LOST when the tables are damaged. Rows that walk alone had
 * better guess. */
HG_INLINE int32_t tree_step(const tree_forest *f, const bool guesses, int64_t i, int32_t at)
{
    const int32_t *node = f->node + (int64_t)at * HG_TREE_FIELDS;
    const uint32_t feature = (uint32_t)node[HG_TREE_FEATURE], mode = (uint32_t)node[HG_TREE_MODE];
    if (HG_UNLIKELY(feature >= f->n_feature)) {
        hg_fault_range(f->fault, "the number of a feature", f->row + i, (int32_t)feature, 0,
                       (int64_t)f->n_feature - 1);
        return TREE_LOST;
    }
    if (HG_UNLIKELY(mode >= 2 * HG_TREE_MODES)) {
        hg_fault_range(f->fault, "the mode of a node", f->row + i, (int32_t)mode, 0,
                       2 * HG_TREE_MODES - 1);
        return TREE_LOST;
    }
    const int64_t place = i * f->features + feature;
    const double x = f->x32 != NULL ? (double)f->x32[place] : f->x64[place], split = f->split[at];
    const int holds = mode == HG_TREE_LEQ                   ? x <= split
                      : mode == HG_TREE_LT                  ? x < split
                      : mode == HG_TREE_LT + HG_TREE_MODES  ? (x < split) | (x != x)
                      : mode == HG_TREE_LEQ + HG_TREE_MODES ? (x <= split) | (x != x)
                                                            : tree_holds((int32_t)mode, x, split);
    const int32_t next = !guesses           ? node[HG_TREE_FALSE - holds]
                         : HG_LIKELY(holds) ? node[HG_TREE_TRUE]
                                            : node[HG_TREE_FALSE];
    if (HG_UNLIKELY(next >= 0 && (next <= at || (uint32_t)next >= f->n_node))) {
        hg_fault_range(f->fault, "the number of a node", f->row + i, next, (int64_t)at + 1,
                       (int64_t)f->n_node - 1);
        return TREE_LOST;
    }
    return next;
}

static int32_t tree_step_alone(const tree_forest *f, int64_t i, int32_t at)
{
    return tree_step(f, true, i, at);
}

/* The leaf that one row reaches from node `at`. What most trees ask, of float32, needs few
 * instructions; all else is left to tree_step, which also says what is wrong. */
static int32_t tree_descend(const tree_forest *f, int64_t i, int32_t at)
{
    const int32_t *const nodes = f->node;
    const double *const splits = f->split;
    const float *x = f->x32 == NULL ? NULL : f->x32 + i * f->features;
    const uint32_t n_feature = x == NULL ? 0 : f->n_feature, n_node = f->n_node;
    while (at >= 0) {
        const int32_t *node = nodes + (int64_t)at * HG_TREE_FIELDS;
        const uint32_t feature = (uint32_t)node[HG_TREE_FEATURE];
        const int32_t mode = node[HG_TREE_MODE];
        int32_t next = at;
        if (HG_LIKELY(feature < n_feature)) {
            const double v = (double)x[feature], split = splits[at];
            if (mode == HG_TREE_LEQ)
                next = v <= split ? node[HG_TREE_TRUE] : node[HG_TREE_FALSE];
            else if (mode == HG_TREE_LT || (mode == HG_TREE_LT + HG_TREE_MODES && v == v))
                next = v < split ? node[HG_TREE_TRUE] : node[HG_TREE_FALSE];
        }
        if (HG_UNLIKELY(next >= 0 && (next <= at || (uint32_t)next >= n_node)))
            next = tree_step_alone(f, i, at);
        at = next;
    }
    return at;
}

/* A root, or TREE_LOST. */
static int32_t tree_enter(const tree_forest *f, int32_t root)
{
    if (root < 0 || (uint32_t)root < f->n_node) return root;
    hg_fault_range(f->fault, "the number of a node", f->row, root, 0, (int64_t)f->n_node - 1);
    return TREE_LOST;
}

/* The leaves that rows reach, -1 - k each, or TREE_LOST. Several rows go down together: what one
 * waits for does not keep the others. */
static void tree_walk(const tree_forest *f, int64_t count, int32_t root, int32_t *at)
{
    root = tree_enter(f, root);
    for (int64_t i = 0; i < count; i++)
        at[i] = root;
    for (int64_t i = 0; i < count && count < TREE_TOGETHER; i++)
        at[i] = tree_descend(f, i, root);
    for (bool moves = count >= TREE_TOGETHER; moves;) {
        moves = false;
        for (int64_t i = 0; i < count; i++) {
            const int32_t now = at[i];
            if (now < 0) continue;
            at[i] = tree_step(f, false, i, now);
            moves = true;
        }
    }
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

HG_INLINE void tree_votes(const hg_args *a, int64_t row, int64_t leaf, double *score)
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

void hg_tree_votes(const hg_args *a, int64_t row, int64_t leaf, double *score)
{
    tree_votes(a, row, leaf, score);
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

static tree_forest tree_forest_of(const hg_args *a, int64_t begin)
{
    const int64_t first = begin * a->in[0].dim[1];
    const bool is_f32 = a->in[0].dtype == HOLO_F32;
    return (tree_forest){.node = a->in[1].data,
                         .split = a->in[2].data,
                         .x32 = is_f32 ? (const float *)a->in[0].data + first : NULL,
                         .x64 = is_f32 ? NULL : (const double *)a->in[0].data + first,
                         .features = a->in[0].dim[1],
                         .row = begin,
                         .n_node = (uint32_t)a->in[1].dim[0],
                         .n_feature = (uint32_t)hg_min(a->in[0].dim[1], INT32_MAX),
                         .fault = a->fault};
}

void hg_tree_walk(const hg_args *a, int64_t begin, int64_t end, int64_t tree, int64_t trees,
                  double *score)
{
    const tree_forest f = tree_forest_of(a, begin);
    const int64_t targets = a->out[0].dim[1];
    const int32_t *root = a->in[3].data;
    for (int64_t t = tree; t < tree + trees; t++) {
        int32_t at[HG_TREE_ROWS];
        tree_walk(&f, end - begin, root[t], at);
        for (int64_t i = 0; i < end - begin; i++)
            tree_votes(a, begin + i, -1 - (int64_t)at[i], score + i * targets);
    }
}

void hg_tree_begin(const hg_args *a, int64_t rows, double *score)
{
    const double start = hg_param_f64(a, 1);
    for (int64_t i = 0; i < rows * a->out[0].dim[1]; i++)
        score[i] = start;
}

void hg_tree_end(const hg_args *a, int64_t begin, int64_t end, const double *score)
{
    for (int64_t row = begin; row < end; row++)
        tree_store(a, row, score + (row - begin) * a->out[0].dim[1]);
}

void hg_tree_run(const hg_args *a, hg_range r)
{
    for (int64_t row = r.begin; row < r.end; row += HG_TREE_ROWS) {
        const int64_t end = hg_min(row + HG_TREE_ROWS, r.end);
        hg_tree_begin(a, end - row, r.scratch);
        hg_tree_walk(a, row, end, 0, a->in[3].dim[0], r.scratch);
        hg_tree_end(a, row, end, r.scratch);
    }
}

void hg_tree_cost(const hg_args *a, hg_cost *cost)
{
    /* About as many steps as a balanced tree is deep. */
    double depth = 1;
    for (double n = (double)a->in[1].dim[0] / (double)(a->in[3].dim[0] + 1); n > 1; n /= 2)
        depth++;
    /* A step takes about as long as 24 products, what is done for each row as 300. */
    cost->flops = (double)a->out[0].dim[0] * ((double)a->in[3].dim[0] * depth * 24 + 300);
}

const hg_kernel hg_kernels_tree[] = {
    {.name = "tree",
     .check = hg_tree_check,
     .units = hg_tree_units,
     .scratch = hg_tree_scratch,
     .cost = hg_tree_cost,
     .run = hg_tree_run},
    {0},
};
