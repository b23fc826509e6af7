/* tree.c - tree: walks against a walk of its own, all modes, aggregates and types; damaged tables.
 */
#include "kernel/tree.h"
#include "kernel/value.h"
#include "kernel/variants.h"
#include "op/op_tree.h"

#include <math.h>

extern const hg_kernel hg_kernels_tree[];
#if defined(TUNED)
extern const hg_kernel TUNED(tree)[];
#endif

static const hg_kernel *tree_tuned(void)
{
#if defined(TUNED)
    if (tuned_runs()) return TUNED(tree);
#endif
    return hg_kernels_tree;
}

typedef struct tree_call {
    int32_t node[64][HG_TREE_FIELDS];
    double split[64];
    int32_t root[8], first[65], target[128];
    double weight[128];
    int64_t n_node, n_root, n_leaf, n_vote, targets, aggregate;
    double start;
} tree_call;

static void tree_table(move_call *c, holo_dtype dtype, int rank, const int64_t *dim,
                       const void *data)
{
    holo_tensor *t = move_in(c, dtype, rank, dim);
    memcpy(t->data, data, holo_tensor_bytes(t));
}

static void tree_connect(move_call *c, const tree_call *t, holo_dtype dtype, int64_t rows,
                         int64_t features)
{
    value_in(c, dtype, 2, MOVE_DIMS(rows, features), 3);
    tree_table(c, HOLO_I32, 2, MOVE_DIMS(t->n_node, HG_TREE_FIELDS), t->node);
    tree_table(c, HOLO_F64, 1, MOVE_DIMS(t->n_node), t->split);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(t->n_root), t->root);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(t->n_leaf + 1), t->first);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(t->n_vote), t->target);
    tree_table(c, HOLO_F64, 1, MOVE_DIMS(t->n_vote), t->weight);
    move_param(c, t->aggregate);
    value_param_f64(c, t->start);
    move_out(c, dtype, 2, MOVE_DIMS(rows, t->targets));
}

/* Four complete trees of depth 3 (the last is a leaf), two votes a leaf. */
static void tree_make_forest(tree_call *t, int64_t features, int64_t targets)
{
    uint64_t seed = 11;
    *t = (tree_call){.n_root = 4, .targets = targets, .aggregate = HG_TREE_SUM};
    for (int r = 0; r < 3; r++) {
        const int32_t base = (int32_t)t->n_node, leaf = (int32_t)t->n_leaf;
        t->root[r] = base;
        for (int32_t k = 0; k < 7; k++) {
            int32_t *node = t->node[t->n_node];
            node[HG_TREE_FEATURE] = (int32_t)(value_random(&seed) * (double)features);
            node[HG_TREE_MODE] = (int32_t)(value_random(&seed) * 2 * HG_TREE_MODES);
            for (int32_t w = 0; w < 2; w++) {
                const int32_t child = 2 * k + 1 + w;
                node[HG_TREE_TRUE + w] = child < 7 ? base + child : -1 - (leaf + child - 7);
            }
            t->split[t->n_node++] = floor(value_random(&seed) * 8 - 4) / 4;
        }
        t->n_leaf += 8;
    }
    t->root[3] = -1 - (int32_t)t->n_leaf++;
    for (int64_t k = 0; k < t->n_leaf; k++)
        for (int v = 0; v < 2; v++) {
            t->target[t->n_vote] = (int32_t)(value_random(&seed) * (double)targets);
            t->weight[t->n_vote++] = value_random(&seed) * 4 - 2;
            t->first[k + 1] = (int32_t)t->n_vote;
        }
}

/* By the words of the standard. */
static bool tree_goes_true(int mode, double x, double split)
{
    if (isnan(x)) return mode >= 6;
    const bool answers[6] = {x <= split, x<split, x >= split, x> split, x == split, x != split};
    return answers[mode % 6];
}

static double tree_expected(const tree_call *t, const holo_tensor *x, int64_t row, int64_t target)
{
    double sum = 0, least = t->start, most = t->start;
    for (int64_t r = 0; r < t->n_root; r++) {
        int32_t at = t->root[r];
        while (at >= 0) {
            const double v = value_get(x, row * x->dim[1] + t->node[at][HG_TREE_FEATURE]);
            at = t->node[at][tree_goes_true(t->node[at][HG_TREE_MODE], v, t->split[at])
                                 ? HG_TREE_TRUE
                                 : HG_TREE_FALSE];
        }
        for (int32_t k = t->first[-1 - at]; k < t->first[-at]; k++) {
            if (t->target[k] != target) continue;
            sum += t->weight[k];
            least = fmin(least, t->weight[k]);
            most = fmax(most, t->weight[k]);
        }
    }
    if (t->aggregate == HG_TREE_MIN) return least;
    if (t->aggregate == HG_TREE_MAX) return most;
    return t->aggregate == HG_TREE_AVERAGE ? sum / (double)t->n_root : sum;
}

static void tree_walks(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64};
    for (size_t d = 0; d < HG_COUNT(types); d++)
        for (int64_t aggregate = 0; aggregate < HG_TREE_AGGREGATES; aggregate++) {
            enum { ROWS = 67, FEATURES = 5, TARGETS = 3 };
            tree_call t;
            move_call c = {0};
            tree_make_forest(&t, FEATURES, TARGETS);
            t.aggregate = aggregate;
            t.split[5] = NAN;
            t.start = aggregate == HG_TREE_MIN ? 99 : aggregate == HG_TREE_MAX ? -99 : 0;
            tree_connect(&c, &t, types[d], ROWS, FEATURES);
            for (int64_t i = 0; i < ROWS * FEATURES; i++) {
                /* steps of a quarter, so that equality happens; NaN here and there */
                const double v = floor(value_get(&c.in[0], i) * 4) / 4;
                value_set(&c.in[0], i, i % 13 == 5 ? NAN : v);
            }
            if (move_run(d == 0 ? tree_tuned() : hg_kernels_tree, &c))
                for (int64_t i = 0; i < ROWS * TARGETS; i++)
                    if (!value_near(&c.out[0], i,
                                    tree_expected(&t, &c.in[0], i / TARGETS, i % TARGETS)))
                        break;
            CHECK_EQ_INT(c.fault.kind, HG_FAULT_NONE);
            move_free(&c);
        }
}

static void tree_empty(void)
{
    tree_call t;
    move_call c = {0};
    tree_make_forest(&t, 5, 3);
    tree_connect(&c, &t, HOLO_F32, 0, 5);
    CHECK_EQ_INT(hg_kernels_tree->scratch(&(hg_args){.out = c.out}), 0);
    move_run(hg_kernels_tree, &c);
    move_free(&c);
    t.n_root = 0; /* no trees: nothing is added, and an average of nothing is no division */
    t.aggregate = HG_TREE_AVERAGE;
    tree_connect(&c, &t, HOLO_F32, 2, 5);
    if (move_run(hg_kernels_tree, &c)) CHECK_NEAR(value_get(&c.out[0], 0), 0, 0);
    move_free(&c);
}

/* ---- damaged tables
 * -------------------------------------------------------------------------------------------- */

typedef void (*tree_damage)(tree_call *t);

static void tree_loops(tree_call *t)
{
    t->node[1][HG_TREE_TRUE] = t->node[1][HG_TREE_FALSE] = 0;
    t->node[0][HG_TREE_TRUE] = t->node[0][HG_TREE_FALSE] = 1;
}

static void tree_stays(tree_call *t)
{
    t->node[0][HG_TREE_TRUE] = t->node[0][HG_TREE_FALSE] = 0;
}

static void tree_far(tree_call *t)
{
    t->node[0][HG_TREE_TRUE] = t->node[0][HG_TREE_FALSE] = INT32_MAX;
}

static void tree_far_leaf(tree_call *t)
{
    t->root[0] = INT32_MIN;
}

static void tree_bad_feature(tree_call *t)
{
    t->node[0][HG_TREE_FEATURE] = 5;
}

static void tree_negative_feature(tree_call *t)
{
    t->node[0][HG_TREE_FEATURE] = INT32_MIN;
}

static void tree_far_root(tree_call *t)
{
    t->root[0] = INT32_MAX;
}

static void tree_bad_mode(tree_call *t)
{
    t->node[0][HG_TREE_MODE] = 2 * HG_TREE_MODES;
}

static void tree_negative_mode(tree_call *t)
{
    t->node[0][HG_TREE_MODE] = -1;
}

static void tree_bad_target(tree_call *t)
{
    for (int k = 0; k < 128; k++)
        t->target[k] = k % 2 == 0 ? 3 : -1;
}

static void tree_bad_votes(tree_call *t)
{
    for (int64_t k = 0; k <= t->n_leaf; k++)
        t->first[k] = k % 2 == 0 ? -7 : INT32_MAX;
}

static void tree_damaged(void)
{
    static const tree_damage damage[] = {tree_loops,      tree_stays,        tree_far,
                                         tree_far_leaf,   tree_bad_feature,  tree_negative_feature,
                                         tree_bad_target, tree_bad_votes,    tree_far_root,
                                         tree_bad_mode,   tree_negative_mode};
    for (size_t i = 0; i < 3 * HG_COUNT(damage); i++) {
        static const int64_t rows[] = {4, 1, 40}; /* together, alone, and compared */
        tree_call t;
        move_call c = {0};
        tree_make_forest(&t, 5, 3);
        damage[i / 3](&t);
        tree_connect(&c, &t, HOLO_F32, rows[i % 3], 5);
        move_run(i % 3 == 2 ? tree_tuned() : hg_kernels_tree, &c);
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 0);
        move_free(&c);
    }
}

/* ---- leaves numbered instead of walks
 * -------------------------------------------------------------------------------------------- */

enum { TREE_MANY_NODES = 1024, TREE_MANY_TREES = 12, TREE_MANY_FEATURES = 6 };

typedef struct tree_many {
    int32_t node[TREE_MANY_NODES][HG_TREE_FIELDS];
    double split[TREE_MANY_NODES];
    int32_t root[TREE_MANY_TREES], first[TREE_MANY_NODES + 1], target[2 * TREE_MANY_NODES];
    double weight[2 * TREE_MANY_NODES];
    int64_t n_node, n_leaf, n_vote;
    uint64_t seed;
    int modes; /* LEQ, LT, GTE, GT; 6: also equality */
} tree_many;

static int tree_pick(tree_many *t, int n)
{
    return (int)(value_random(&t->seed) * n);
}

/* A tree with that many leaves, split where chance has it; parents come before their children. */
static int32_t tree_grow(tree_many *t, int leaves)
{
    if (leaves == 1) return -1 - (int32_t)t->n_leaf++;
    const int32_t at = (int32_t)t->n_node++;
    const int left = 1 + tree_pick(t, leaves - 1);
    t->node[at][HG_TREE_FEATURE] = tree_pick(t, TREE_MANY_FEATURES);
    t->node[at][HG_TREE_MODE] = tree_pick(t, t->modes) + 6 * tree_pick(t, 2);
    t->split[at] = floor(value_random(&t->seed) * 16 - 8) / 4;
    if (at % 7 == 3) t->split[at] += 0x1p-40; /* no float */
    t->node[at][HG_TREE_TRUE] = tree_grow(t, left);
    t->node[at][HG_TREE_FALSE] = tree_grow(t, leaves - left);
    return at;
}

static void tree_many_make(tree_many *t, move_call *c, int modes, int votes, int64_t rows)
{
    static const int leaves[TREE_MANY_TREES] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 20, 7, 64};
    *t = (tree_many){.seed = (uint64_t)(17 + modes + votes), .modes = modes};
    for (int i = 0; i < TREE_MANY_TREES; i++)
        t->root[i] = tree_grow(t, leaves[i]);
    for (int64_t k = 0; k < t->n_leaf; k++) {
        for (int v = 0; v < votes; v++) {
            t->target[t->n_vote] = tree_pick(t, 3);
            t->weight[t->n_vote++] = value_random(&t->seed) * 4 - 2;
        }
        t->first[k + 1] = (int32_t)t->n_vote;
    }
    value_in(c, HOLO_F32, 2, MOVE_DIMS(rows, TREE_MANY_FEATURES), 3);
    for (int64_t i = 0; i < rows * TREE_MANY_FEATURES; i++) {
        static const double odd[] = {INFINITY, -INFINITY, -0.0, 0x1p-149, 3e38};
        const double v = floor(value_get(&c->in[0], i) * 4) / 4;
        value_set(&c->in[0], i, i % 11 == 4 ? odd[i % 5] : v);
        if (i > rows * 4 && i % 17 == 3) value_set(&c->in[0], i, NAN);
    }
    tree_table(c, HOLO_I32, 2, MOVE_DIMS(t->n_node, HG_TREE_FIELDS), t->node);
    tree_table(c, HOLO_F64, 1, MOVE_DIMS(t->n_node), t->split);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(TREE_MANY_TREES), t->root);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(t->n_leaf + 1), t->first);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS(t->n_vote), t->target);
    tree_table(c, HOLO_F64, 1, MOVE_DIMS(t->n_vote), t->weight);
}

/* The tables that spare walks. */
static void tree_many_plan(const tree_many *t, move_call *c, bool adds)
{
    static int32_t plan[TREE_MANY_TREES * HG_TREE_PLAN_FIELDS];
    static int32_t test[TREE_MANY_NODES * HG_TREE_TEST_FIELDS];
    static int32_t leaf[TREE_MANY_NODES + TREE_MANY_TREES];
    static int32_t step[(2 * TREE_MANY_NODES + 1) * HG_TREE_STEP_FIELDS];
    const hg_tree_tables from = {.node = &t->node[0][0],
                                 .root = t->root,
                                 .first = t->first,
                                 .split = t->split,
                                 .n_node = (size_t)t->n_node,
                                 .n_root = TREE_MANY_TREES};
    hg_tree_plans out = {.plan = plan, .test = test, .leaf = leaf, .step = step};
    hg_tree_plan(&from, adds, &out);
    tree_table(c, HOLO_I32, 2, MOVE_DIMS(TREE_MANY_TREES, HG_TREE_PLAN_FIELDS), plan);
    tree_table(c, HOLO_I32, 2, MOVE_DIMS((int64_t)out.n_test, HG_TREE_TEST_FIELDS), test);
    tree_table(c, HOLO_I32, 1, MOVE_DIMS((int64_t)out.n_leaf), leaf);
    CHECK(out.has_steps);
    tree_table(c, HOLO_I32, 2, MOVE_DIMS((int64_t)out.n_step, HG_TREE_STEP_FIELDS), step);
    for (int i = 0; i < TREE_MANY_TREES; i++) {
        const int64_t leaves = plan[i * HG_TREE_PLAN_FIELDS + HG_TREE_PLAN_LEAVES];
        CHECK(plan[i * HG_TREE_PLAN_FIELDS + HG_TREE_PLAN_TESTS] ==
              (i == 0 || i == 8 ? -1 : leaves - 1));
    }
}

/* Every variant gives what walks give, to the last bit. */
static void tree_equal(void)
{
    static const int64_t rows[] = {1, 3, 7, 8, 31, 33, 200, 700};
    static tree_many t;
    for (size_t i = 0; i < HG_COUNT(rows) * 8; i++) {
        move_call c[2] = {0};
        for (int k = 0; k < 2; k++) {
            tree_many_make(&t, &c[k], i % 2 == 0 ? 4 : 6, 1 + (int)(i / 2 % 2), rows[i / 8]);
            if (k == 1) tree_many_plan(&t, &c[k], i / 4 % 2 == 0);
            move_param(&c[k], i / 4 % 2 == 0 ? HG_TREE_SUM : HG_TREE_MAX);
            value_param_f64(&c[k], 0.25);
            move_out(&c[k], HOLO_F32, 2, MOVE_DIMS(rows[i / 8], 3));
            move_run(k == 0 ? hg_kernels_tree : tree_tuned(), &c[k]);
            CHECK_EQ_INT(c[k].fault.kind, HG_FAULT_NONE);
        }
        CHECK_MEM(c[1].out[0].data, c[0].out[0].data, holo_tensor_bytes(&c[0].out[0]));
        move_free(&c[0]);
        move_free(&c[1]);
    }
}

/* Whatever is written into those tables, nothing outside of the others is touched. */
static void tree_damage_plans(int modes, int64_t rows)
{
    static const int32_t wrong[] = {-1, 0, 1, 63, 64, 65, 1 << 20, INT32_MAX, INT32_MIN};
    static tree_many t;
    move_call c = {0};
    uint64_t seed = 5;
    tree_many_make(&t, &c, modes, 1, rows);
    tree_many_plan(&t, &c, true);
    move_param(&c, HG_TREE_SUM);
    value_param_f64(&c, 0);
    move_out(&c, HOLO_F32, 2, MOVE_DIMS(rows, 3));
    for (int i = 0; i < 2000; i++) {
        const holo_tensor *table = &c.in[HG_TREE_IN_PLANS + i % 4];
        int32_t *at = (int32_t *)table->data +
                      (int64_t)(value_random(&seed) * (double)holo_tensor_count(table));
        const int32_t before = *at;
        *at = wrong[(int)(value_random(&seed) * (double)HG_COUNT(wrong))];
        CHECK(move_run(tree_tuned(), &c));
        if (i % 5 != 0) *at = before; /* others pile up */
    }
    move_free(&c);
}

static void tree_damaged_plans(void)
{
    for (int modes = 4; modes <= 6; modes += 2) {
        tree_damage_plans(modes, 40);
        tree_damage_plans(modes, 1); /* which walks */
    }
}

/* Leaves whose votes end behind those that there are: memory holds them, the table does not. */
static void tree_short_votes(void)
{
    static const int64_t rows[] = {1, 40};
    static tree_many t;
    for (size_t i = 0; i < HG_COUNT(rows); i++) {
        move_call c = {0};
        tree_many_make(&t, &c, 4, 1, rows[i]);
        tree_many_plan(&t, &c, true);
        move_param(&c, HG_TREE_SUM);
        value_param_f64(&c, 0);
        move_out(&c, HOLO_F32, 2, MOVE_DIMS(rows[i], 3));
        c.in[HG_TREE_IN_TARGETS].dim[0] = c.in[HG_TREE_IN_WEIGHTS].dim[0] = 1;
        CHECK(move_run(tree_tuned(), &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        move_free(&c);
    }
}

static void tree_make_planned(move_call *c)
{
    static tree_many t;
    tree_many_make(&t, c, 4, 1, 9);
    tree_many_plan(&t, c, true);
    move_param(c, HG_TREE_SUM);
    value_param_f64(c, 0);
    move_out(c, HOLO_F32, 2, MOVE_DIMS(9, 3));
}

static void tree_make(move_call *c)
{
    tree_call t;
    tree_make_forest(&t, 5, 3);
    tree_connect(c, &t, HOLO_F32, 2, 5);
}

static void tree_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 6, "6 inputs"},
        {MOVE_N_PARAM, 0, 0, 1, "1 parameters"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output 0 has type float16"},
        {MOVE_IN_RANK, 0, 0, 1, "the table of features has rank 1"},
        {MOVE_OUT_RANK, 0, 0, 1, "the output has rank 1"},
        {MOVE_IN_TYPE, 1, 0, HOLO_I64, "input 1 has type int64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F32, "input 2 has type float32"},
        {MOVE_IN_TYPE, 3, 0, HOLO_F32, "input 3 has type float32"},
        {MOVE_IN_TYPE, 4, 0, HOLO_F32, "input 4 has type float32"},
        {MOVE_IN_TYPE, 5, 0, HOLO_F32, "input 5 has type float32"},
        {MOVE_IN_TYPE, 6, 0, HOLO_F32, "input 6 has type float32"},
        {MOVE_IN_RANK, 1, 0, 1, "a table has rank 1"},
        {MOVE_IN_RANK, 2, 0, 2, "a table has rank 2"},
        {MOVE_IN_DIM, 3, 0, INT64_C(1) << 31, "table 3 has 2147483648 rows"},
        {MOVE_OUT_DIM, 0, 0, 3, "2 rows of features, the output has 3"},
        {MOVE_IN_DIM, 1, 1, 5, "nodes are [21,5]"},
        {MOVE_IN_DIM, 2, 0, 20, "for 20 splits"},
        {MOVE_IN_DIM, 4, 0, 0, "the table of leaves is empty"},
        {MOVE_IN_DIM, 6, 0, 2, "the weights"},
        {MOVE_PARAM, 0, 0, 4, "aggregate is 4"},
    };
    static const move_bad planned[] = {
        {MOVE_N_IN, 0, 0, 8, "8 inputs, expected 7, 10 or 11"},
        {MOVE_IN_TYPE, HG_TREE_IN_PLANS, 0, HOLO_I64, "input 7 has type int64"},
        {MOVE_IN_TYPE, HG_TREE_IN_TESTS, 0, HOLO_F32, "input 8 has type float32"},
        {MOVE_IN_TYPE, HG_TREE_IN_LEAVES, 0, HOLO_F32, "input 9 has type float32"},
        {MOVE_IN_DIM, HG_TREE_IN_PLANS, 0, 11, "plans are [11,5]"},
        {MOVE_IN_DIM, HG_TREE_IN_PLANS, 1, 4, "plans are [12,4]"},
        {MOVE_IN_DIM, HG_TREE_IN_TESTS, 1, 3, ",3] for 12 trees"},
        {MOVE_IN_TYPE, HG_TREE_IN_STEPS, 0, HOLO_F32, "input 10 has type float32"},
        {MOVE_IN_DIM, HG_TREE_IN_STEPS, 0, 5, "steps are [5,4]"},
        {MOVE_IN_DIM, HG_TREE_IN_STEPS, 1, 3, ",3] for"},
    };
    MOVE_REFUSES(hg_kernels_tree, tree_make, bad);
    MOVE_REFUSES(hg_kernels_tree, tree_make_planned, planned);
}

const hg_test_case hg_tests_kernel_tree[] = {
    {"walks", tree_walks},
    {"empty", tree_empty},
    {"damaged", tree_damaged},
    {"damaged_plans", tree_damaged_plans},
    {"short_votes", tree_short_votes},
    {"equal", tree_equal},
    {"refuses", tree_refuses},
    {0},
};
