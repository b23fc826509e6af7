/* op_tree_plan.c - numbers the leaves of trees, so that kernels can compare instead of walk.
 *
 * The leaves of a tree are numbered from its first way to its last. A row that does not pass a test
 * loses the leaves of the test's first way; when all have been asked, the first leaf that is left
 * is where it would have walked to. */
#include "op/op_tree.h"

#include <math.h>

#include "isa/lane_math.h"

/* The next float below x, which is finite. */
static float tree_below(float x)
{
    const uint32_t bits = hg_bits_f32(x);
    if (x == 0) return hg_f32_from_bits(0x80000001);
    return hg_f32_from_bits(x > 0 ? bits - 1 : bits + 1);
}

/* The largest float that is at most `split`, or below it; false where there is none. */
static bool tree_round(double split, bool below, float *out)
{
    if (!(split >= -3e38 && split <= 3e38)) return false;
    *out = (float)split;
    if ((double)*out > split || (below && (double)*out >= split)) *out = tree_below(*out);
    return true;
}

/* The test of a node as x <= split or x == split, with the ways turned where it asks the opposite.
 * x is no NaN; what no float equals is NaN. */
static bool tree_read(const hg_tree_tables *t, int32_t at, int32_t *test, int32_t *way)
{
    const int32_t *node = t->node + (int64_t)at * HG_TREE_FIELDS;
    const int32_t mode = node[HG_TREE_MODE] % HG_TREE_MODES;
    const bool turns = mode == HG_TREE_GTE || mode == HG_TREE_GT || mode == HG_TREE_NEQ;
    const bool is_equality = mode >= HG_TREE_EQ;
    float split;
    if (!tree_round(t->split[at], mode == HG_TREE_LT || mode == HG_TREE_GTE, &split)) return false;
    if (is_equality && (double)split != t->split[at]) split = NAN;
    test[HG_TREE_TEST_SPLIT] = (int32_t)hg_bits_f32(split);
    test[HG_TREE_TEST_FEATURE] = is_equality ? ~node[HG_TREE_FEATURE] : node[HG_TREE_FEATURE];
    way[0] = node[turns ? HG_TREE_FALSE : HG_TREE_TRUE];
    way[1] = node[turns ? HG_TREE_TRUE : HG_TREE_FALSE];
    return true;
}

static bool tree_add_leaf(const hg_tree_tables *t, hg_tree_plans *out, int32_t *plan, int32_t leaf)
{
    if (plan[HG_TREE_PLAN_LEAVES] == HG_TREE_PLAN_MOST || out->n_leaf == t->n_node + t->n_root)
        return false;
    if (t->first[leaf + 1] - t->first[leaf] != 1) plan[HG_TREE_PLAN_SINGLE] = 0;
    plan[HG_TREE_PLAN_LEAVES]++;
    out->leaf[out->n_leaf++] = leaf;
    return true;
}

/* Leaves and tests from node `at` on; false: such a tree is walked. As many levels as there are
 * leaves at most. Ways that meet may give more tests than there are nodes. */
static bool tree_number(const hg_tree_tables *t, hg_tree_plans *out, int32_t *plan, int32_t at,
                        int depth)
{
    int32_t way[2];
    if (depth == HG_TREE_PLAN_MOST || out->n_test == t->n_node) return false;
    int32_t *test = out->test + out->n_test * HG_TREE_TEST_FIELDS;
    if (!tree_read(t, at, test, way)) return false;
    const int32_t begin = plan[HG_TREE_PLAN_LEAVES];
    out->n_test++;
    plan[HG_TREE_PLAN_TESTS]++;
    for (int i = 0; i < 2; i++) {
        if (way[i] < 0 ? !tree_add_leaf(t, out, plan, -1 - way[i])
                       : !tree_number(t, out, plan, way[i], depth + 1))
            return false;
        if (i == 1) break;
        const int32_t end = plan[HG_TREE_PLAN_LEAVES];
        const uint64_t ones = ~(uint64_t)0, upto = end == 64 ? ones : (UINT64_C(1) << end) - 1;
        const uint64_t lost = upto & (ones << begin);
        test[HG_TREE_TEST_LOW] = (int32_t)(uint32_t)lost;
        test[HG_TREE_TEST_HIGH] = (int32_t)(uint32_t)(lost >> 32);
    }
    return true;
}

/* The votes of leaves that have one each stand in their places. */
static void tree_name_votes(const hg_tree_tables *t, const hg_tree_plans *out, const int32_t *plan)
{
    int32_t *leaf = out->leaf + plan[HG_TREE_PLAN_LEAF];
    for (int32_t i = 0; i < plan[HG_TREE_PLAN_LEAVES] && plan[HG_TREE_PLAN_SINGLE] != 0; i++)
        leaf[i] = t->first[leaf[i]];
}

static void tree_set_step(int32_t *step, float split, int32_t feature, int32_t upto, int32_t above)
{
    step[HG_TREE_STEP_SPLIT] = (int32_t)hg_bits_f32(split);
    step[HG_TREE_STEP_FEATURE] = feature;
    step[HG_TREE_STEP_UPTO] = upto;
    step[HG_TREE_STEP_ABOVE] = above;
}

/* x == split is x <= split, and then not x <= the next float below it. */
static bool tree_list_steps(const hg_tree_tables *t, hg_tree_plans *out)
{
    int32_t largest = 0;
    out->n_step = t->n_node;
    for (size_t i = 0; i < t->n_node; i++) {
        int32_t test[HG_TREE_TEST_FIELDS], way[2];
        if (!tree_read(t, (int32_t)i, test, way)) return false;
        int32_t feature = test[HG_TREE_TEST_FEATURE], upto = way[0];
        const float split = hg_f32_from_bits((uint32_t)test[HG_TREE_TEST_SPLIT]);
        const bool is_equality = feature < 0;
        if (is_equality) {
            feature = ~feature;
            upto = way[1];
        }
        largest = feature > largest ? feature : largest;
        if (is_equality && split == split) {
            upto = (int32_t)out->n_step++;
            tree_set_step(out->step + (size_t)upto * HG_TREE_STEP_FIELDS, tree_below(split),
                          feature, way[1], way[0]);
        }
        tree_set_step(out->step + i * HG_TREE_STEP_FIELDS, split, feature, upto, way[1]);
    }
    tree_set_step(out->step + out->n_step++ * HG_TREE_STEP_FIELDS, 0, largest, -1, -1);
    return t->n_node != 0;
}

void hg_tree_plan(const hg_tree_tables *t, bool adds, hg_tree_plans *out)
{
    out->n_test = out->n_leaf = 0;
    out->has_steps = tree_list_steps(t, out);
    for (size_t i = 0; i < t->n_root; i++) {
        int32_t *plan = out->plan + i * HG_TREE_PLAN_FIELDS;
        const size_t test = out->n_test, leaf = out->n_leaf;
        plan[HG_TREE_PLAN_TEST] = (int32_t)test;
        plan[HG_TREE_PLAN_LEAF] = (int32_t)leaf;
        plan[HG_TREE_PLAN_TESTS] = plan[HG_TREE_PLAN_LEAVES] = 0;
        plan[HG_TREE_PLAN_SINGLE] = adds;
        if (t->root[i] >= 0 && tree_number(t, out, plan, t->root[i], 0)) {
            tree_name_votes(t, out, plan);
            continue;
        }
        plan[HG_TREE_PLAN_TESTS] = -1;
        out->n_test = test;
        out->n_leaf = leaf;
    }
}
