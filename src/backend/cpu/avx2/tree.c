/* tree.c - kernel "tree" on AVX2: comparisons of many rows at once instead of walks; the same bits.
 *
 * The leaves of a tree are numbered from its first way to its last. A node whose answer is no takes
 * the leaves of its true way away from those that a row can still reach; when all nodes have been
 * asked, the first leaf that is left is where the row would have walked to. Nothing waits for
 * anything, and a node is read once for HG_TREE_ROWS rows. (Lucchese et al., QuickScorer, 2015.)
 *
 * Trees with more than TREE_LEAVES leaves, with tests for equality or with damaged tables, rows
 * with NaN and a few rows alone walk. */
#include "kernel/tree.h"

#include "backend/cpu/avx2/gemm.h"
#include "isa/lane_math.h"

enum {
    TREE_LEAVES = 64,
    TREE_UNITS = 8,       /* at most: each call numbers all leaves */
    TREE_MIN_ROWS = 8,    /* for less it does not pay to number leaves */
    TREE_FEATURES = 4096, /* at most: features of a block are turned into columns */
    TREE_MAX_NODES = 1 << 20
};

/* Rows with x > split lose these leaves. */
typedef struct tree_test {
    float split;
    int32_t feature;
    uint32_t low, high;
} tree_test;

typedef struct tree_plan {
    int64_t test, tests; /* tests < 0: rows walk */
    int64_t leaf, leaves;
    bool is_single; /* each leaf has one vote, and votes are added */
} tree_plan;

/* What is known of the forest, in scratch behind the scores. */
typedef struct tree_forest8 {
    const hg_args *a;
    tree_plan *plan;
    tree_test *test;
    int32_t *leaf;
    float *column; /* [features, HG_TREE_ROWS] */
    int64_t n_test, n_leaf;
} tree_forest8;

static bool tree_fits(const hg_args *a)
{
    return a->in[0].dtype == HOLO_F32 && a->out[0].dim[0] >= TREE_MIN_ROWS &&
           a->in[0].dim[1] <= TREE_FEATURES && a->in[1].dim[0] <= TREE_MAX_NODES &&
           a->in[3].dim[0] <= TREE_MAX_NODES;
}

/* Rows of a unit. */
static int64_t tree_unit(const hg_args *a)
{
    const int64_t each = hg_ceil_div(a->out[0].dim[0], TREE_UNITS);
    return hg_max(1, hg_ceil_div(each, HG_TREE_ROWS)) * HG_TREE_ROWS;
}

static int64_t tree_units(const hg_args *a)
{
    return hg_ceil_div(a->out[0].dim[0], tree_unit(a));
}

static size_t tree_part(int64_t count, size_t size)
{
    return hg_align_up((size_t)count * size, HG_ALIGN);
}

static size_t tree_scratch(const hg_args *a)
{
    const size_t scores = hg_tree_scratch(a);
    if (scores == 0 || !tree_fits(a)) return scores;
    const int64_t nodes = a->in[1].dim[0], trees = a->in[3].dim[0];
    return hg_align_up(scores, HG_ALIGN) + tree_part(trees, sizeof(tree_plan)) +
           tree_part(nodes, sizeof(tree_test)) + tree_part(nodes + trees, sizeof(int32_t)) +
           tree_part(a->in[0].dim[1] * HG_TREE_ROWS, sizeof(float));
}

/* ---- numbering leaves ----------------------------------------------------------------------- */

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

/* The test of a node as x <= split, with the ways turned where it asks the opposite. x is no NaN.
 */
HG_INLINE bool tree_read(const hg_args *a, int32_t at, tree_test *test, int32_t *way)
{
    const int32_t *node = (const int32_t *)a->in[1].data + (int64_t)at * HG_TREE_FIELDS;
    const int32_t all = node[HG_TREE_MODE], mode = all < HG_TREE_MODES ? all : all - HG_TREE_MODES;
    const bool turns = mode == HG_TREE_GTE || mode == HG_TREE_GT;
    test->feature = node[HG_TREE_FEATURE];
    way[0] = node[turns ? HG_TREE_FALSE : HG_TREE_TRUE];
    way[1] = node[turns ? HG_TREE_TRUE : HG_TREE_FALSE];
    return mode >= 0 && mode <= HG_TREE_GT && test->feature >= 0 &&
           test->feature < a->in[0].dim[1] &&
           tree_round(((const double *)a->in[2].data)[at],
                      mode == HG_TREE_LT || mode == HG_TREE_GTE, &test->split);
}

HG_INLINE bool tree_add_leaf(tree_forest8 *f, tree_plan *p, int64_t leaf)
{
    const hg_args *a = f->a;
    const int32_t *first = a->in[4].data, *target = a->in[5].data;
    if (p->leaves == TREE_LEAVES || f->n_leaf == a->in[1].dim[0] + a->in[3].dim[0] ||
        leaf >= a->in[4].dim[0] - 1)
        return false;
    const int64_t vote = first[leaf];
    if (p->is_single)
        p->is_single = first[leaf + 1] - vote == 1 && vote >= 0 && vote < a->in[5].dim[0] &&
                       target[vote] >= 0 && target[vote] < a->out[0].dim[1];
    p->leaves++;
    f->leaf[f->n_leaf++] = (int32_t)leaf;
    return true;
}

/* Leaves and tests from node `at` on; false: such a tree is walked. As many levels as there are
 * leaves at most. */
static bool tree_number(tree_forest8 *f, tree_plan *p, int32_t at, int depth)
{
    int32_t way[2];
    tree_test test;
    if (at >= f->a->in[1].dim[0] || depth == TREE_LEAVES || f->n_test == f->a->in[1].dim[0] ||
        !tree_read(f->a, at, &test, way))
        return false;
    tree_test *own = &f->test[f->n_test++];
    const int64_t begin = p->leaves;
    p->tests++;
    for (int i = 0; i < 2; i++) {
        if (way[i] < 0 ? !tree_add_leaf(f, p, -1 - (int64_t)way[i])
                       : way[i] <= at || !tree_number(f, p, way[i], depth + 1))
            return false;
        if (i == 1) break;
        const uint64_t ones = ~(uint64_t)0, upto = p->leaves == 64 ? ones : (1ull << p->leaves) - 1;
        const uint64_t lost = upto & (ones << begin);
        test.low = (uint32_t)lost;
        test.high = (uint32_t)(lost >> 32);
    }
    *own = test;
    return true;
}

static void tree_prepare(tree_forest8 *f)
{
    const hg_args *a = f->a;
    const int32_t *root = a->in[3].data;
    for (int64_t t = 0; t < a->in[3].dim[0]; t++) {
        tree_plan *p = &f->plan[t];
        const bool adds = a->param[0] == HG_TREE_SUM || a->param[0] == HG_TREE_AVERAGE;
        *p = (tree_plan){.test = f->n_test, .leaf = f->n_leaf, .is_single = adds};
        if (root[t] >= 0 && tree_number(f, p, root[t], 0)) continue;
        f->n_test = p->test;
        f->n_leaf = p->leaf;
        p->tests = -1;
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Columns of rows [begin, end), zeros behind the last; false when there is a NaN. */
static bool tree_turn(const tree_forest8 *f, int64_t begin, int64_t end)
{
    const int64_t features = f->a->in[0].dim[1];
    bool has_nan = false;
    for (int64_t i = 0; i < HG_TREE_ROWS; i++) {
        const float *x = (const float *)f->a->in[0].data + (begin + i) * features;
        for (int64_t k = 0; k < features; k++) {
            const float v = begin + i < end ? x[k] : 0;
            has_nan = has_nan || v != v;
            f->column[k * HG_TREE_ROWS + i] = v;
        }
    }
    return !has_nan;
}

enum { TREE_VECTORS = HG_TREE_ROWS / 8 };

/* The leaves each row can still reach when all nodes of the tree have been asked: 32 of them, or
 * with `both` 64. */
HG_INLINE void tree_ask(const bool both, const tree_test *test, int64_t tests, const float *column,
                        float *reach)
{
    const __m256 all = _mm256_set1_ps(hg_f32_from_bits(UINT32_MAX));
    __m256 left[2][TREE_VECTORS];
    HG_GEMM_UNROLL
    for (int i = 0; i < 2 * TREE_VECTORS; i++)
        left[i / TREE_VECTORS][i % TREE_VECTORS] = all;
    for (; tests > 0; tests--, test++) {
        const float *x = column + (int64_t)test->feature * HG_TREE_ROWS;
        const __m256 split = _mm256_set1_ps(test->split);
        const __m256 low = _mm256_set1_ps(hg_f32_from_bits(test->low));
        const __m256 high = _mm256_set1_ps(hg_f32_from_bits(test->high));
        HG_GEMM_UNROLL
        for (int i = 0; i < TREE_VECTORS; i++) {
            __m256 *l = &left[0][i], *h = &left[1][i];
            const __m256 above =
                _mm256_cmp_ps(_mm256_loadu_ps(x + (int64_t)8 * i), split, _CMP_NLE_UQ);
            *l = _mm256_xor_ps(*l, _mm256_and_ps(*l, _mm256_and_ps(low, above)));
            if (both) *h = _mm256_xor_ps(*h, _mm256_and_ps(*h, _mm256_and_ps(high, above)));
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < 2 * TREE_VECTORS; i++)
        _mm256_storeu_ps(reach + (int64_t)8 * i, left[i / TREE_VECTORS][i % TREE_VECTORS]);
}

/* The place of the lowest bit, which is there: the exponent of its power of two. */
HG_INLINE int32_t tree_lowest(uint32_t bits)
{
    const float power = (float)(int32_t)(bits & (~bits + 1));
    return (int32_t)(hg_bits_f32(power) >> 23 & 255) - 127;
}

/* The places of the leaves that rows reach. */
static void tree_reach(const tree_forest8 *f, const tree_plan *p, int32_t *place)
{
    float reach[2 * HG_TREE_ROWS];
    uint32_t low[2 * HG_TREE_ROWS];
    const uint32_t *high = low + HG_TREE_ROWS;
    if (p->leaves <= 32)
        tree_ask(false, f->test + p->test, p->tests, f->column, reach);
    else
        tree_ask(true, f->test + p->test, p->tests, f->column, reach);
    memcpy(low, reach, sizeof low);
    for (int i = 0; i < HG_TREE_ROWS; i++) {
        const int32_t near = tree_lowest(low[i]), far = 32 + tree_lowest(high[i]);
        place[i] = low[i] != 0 ? near : far;
    }
}

static void tree_count_votes(const tree_forest8 *f, const tree_plan *p, int64_t begin, int64_t rows,
                             double *score)
{
    const hg_args *a = f->a;
    const int64_t targets = a->out[0].dim[1];
    const int32_t *first = a->in[4].data, *target = a->in[5].data, *leaf = f->leaf + p->leaf;
    const double *weight = a->in[6].data;
    int32_t place[HG_TREE_ROWS];
    tree_reach(f, p, place);
    for (int64_t i = 0; i < rows; i++) {
        const int32_t reached = leaf[place[i]];
        if (p->is_single)
            score[i * targets + target[first[reached]]] += weight[first[reached]];
        else
            hg_tree_votes(a, begin + i, reached, score + i * targets);
    }
}

static void tree_rows(const tree_forest8 *f, int64_t begin, int64_t end, double *score)
{
    const hg_args *a = f->a;
    const bool walks = end - begin < TREE_MIN_ROWS || !tree_turn(f, begin, end);
    hg_tree_begin(a, end - begin, score);
    for (int64_t t = 0; t < a->in[3].dim[0]; t++) {
        if (walks || f->plan[t].tests < 0)
            hg_tree_walk(a, begin, end, t, 1, score);
        else
            tree_count_votes(f, &f->plan[t], begin, end - begin, score);
    }
    hg_tree_end(a, begin, end, score);
}

static void tree_run(const hg_args *a, hg_range r)
{
    const int64_t unit = tree_unit(a);
    r.begin *= unit;
    r.end = hg_min(r.end * unit, a->out[0].dim[0]);
    if (!tree_fits(a) || r.end - r.begin < TREE_MIN_ROWS) {
        hg_tree_run(a, r);
        return;
    }
    const int64_t nodes = a->in[1].dim[0], trees = a->in[3].dim[0];
    char *at = r.scratch;
    tree_forest8 f = {.a = a};
    f.plan = (tree_plan *)(void *)(at += hg_align_up(hg_tree_scratch(a), HG_ALIGN));
    f.test = (tree_test *)(void *)(at += tree_part(trees, sizeof(tree_plan)));
    f.leaf = (int32_t *)(void *)(at += tree_part(nodes, sizeof(tree_test)));
    f.column = (float *)(void *)(at + tree_part(nodes + trees, sizeof(int32_t)));
    tree_prepare(&f);
    for (int64_t row = r.begin; row < r.end; row += HG_TREE_ROWS)
        tree_rows(&f, row, hg_min(row + HG_TREE_ROWS, r.end), r.scratch);
}

const hg_kernel hg_kernels_tree_avx2[] = {
    {.name = "tree",
     .cpu = HG_CPU_AVX2,
     .check = hg_tree_check,
     .units = tree_units,
     .scratch = tree_scratch,
     .cost = hg_tree_cost,
     .run = tree_run},
    {0},
};
