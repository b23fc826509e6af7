/* tree.c - kernel "tree" on AVX2: comparisons of many rows at once instead of walks; the same bits.
 *
 * The compiler has numbered the leaves of a tree from its first way to its last. A node whose
 * answer is no takes the leaves of its true way away from those that a row can still reach; when
 * all nodes have been asked, the first leaf that is left is where the row would have walked to.
 * Nothing waits for anything, and a node is read once for HG_TREE_ROWS rows. (Lucchese et al.,
 * QuickScorer, 2015.)
 *
 * Trees without a plan (with more than 64 leaves) or with a damaged one and a few rows alone walk:
 * TREE_LANES trees of a row, or rows of a tree, side by side and without a branch that depends on
 * what they find, so that none waits for another. One row and 300 trees of depth 8: 4.5 instead of
 * 9.3 us. Rows with NaN are left to the reference. */
#include "kernel/tree.h"

#include "backend/cpu/avx2/gemm.h"
#include "isa/lane_math.h"

enum {
    TREE_UNITS = 8,      /* at most, of whole blocks */
    TREE_MIN_ROWS = 8,   /* of a block: fewer walk */
    TREE_LANES = 8,      /* walks side by side */
    TREE_DEEPEST = 1024, /* levels that they go down: more may be a cycle of damaged tables */
    TREE_FEATURES = 4096 /* at most: features of a block are turned into columns */
};

static bool tree_fits(const hg_args *a)
{
    const int64_t features = a->in[0].dim[1];
    return a->n_in >= HG_TREE_IN_STEPS && a->in[0].dtype == HOLO_F32 &&
           a->out[0].dim[0] >= TREE_MIN_ROWS && features > 0 && features <= TREE_FEATURES;
}

/* Rows can take steps: they have all features. */
static bool tree_walks(const hg_args *a)
{
    if (a->n_in < HG_TREE_INS || a->in[HG_TREE_IN_STEPS].dim[0] == 0) return false;
    const int32_t *end = (const int32_t *)a->in[HG_TREE_IN_STEPS].data +
                         a->in[HG_TREE_IN_STEPS].dim[0] * HG_TREE_STEP_FIELDS;
    return a->in[0].dtype == HOLO_F32 && a->in[0].dim[1] <= INT32_MAX &&
           a->in[0].dim[1] > end[HG_TREE_STEP_FEATURE - HG_TREE_STEP_FIELDS];
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

static size_t tree_scratch(const hg_args *a)
{
    const size_t scores = hg_tree_scratch(a);
    if (scores == 0 || !tree_fits(a)) return scores;
    return hg_align_up(scores, HG_ALIGN) + (size_t)(a->in[0].dim[1] * HG_TREE_ROWS) * sizeof(float);
}

/* ---- walks ---------------------------------------------------------------------------------- */

/* Where walks are, and the rows they belong to. */
typedef struct tree_walkers {
    const float *x[TREE_LANES];
    int32_t at[TREE_LANES]; /* a node; a leaf k is -1 - k */
} tree_walkers;

/* To the leaves; false: they are left to the reference. Whatever the table holds, only what it and
 * the rows have is read. */
static bool tree_descend(const hg_args *a, tree_walkers *w)
{
    const int32_t *const steps = a->in[HG_TREE_IN_STEPS].data;
    const uint32_t n_step = (uint32_t)a->in[HG_TREE_IN_STEPS].dim[0];
    const uint32_t n_feature = (uint32_t)a->in[0].dim[1];
    for (int64_t level = 0; level < TREE_DEEPEST; level++) {
        int32_t leaves = -1;
        HG_GEMM_UNROLL
        for (int i = 0; i < TREE_LANES; i++) {
            const int32_t now = w->at[i];
            const uint32_t place = (uint32_t)now < n_step ? (uint32_t)now : 0;
            const int32_t *step = steps + (size_t)place * HG_TREE_STEP_FIELDS;
            const uint32_t feature = (uint32_t)step[HG_TREE_STEP_FEATURE];
            const float split = hg_f32_from_bits((uint32_t)step[HG_TREE_STEP_SPLIT]);
            const float x = w->x[i][feature < n_feature ? feature : 0];
            const int32_t next = step[HG_TREE_STEP_UPTO + (x > split)];
            w->at[i] = now < 0 ? now : next;
            leaves &= w->at[i];
        }
        if (leaves < 0) return true;
    }
    return false;
}

static bool tree_has_nan(const float *x, int64_t n)
{
    bool has = false;
    for (int64_t i = 0; i < n; i++)
        has = has || x[i] != x[i];
    return has;
}

/* The votes of a leaf -1 - k; the reference says what is wrong, and knows other aggregates. */
HG_INLINE void tree_vote(const hg_args *a, int64_t row, int32_t at, const bool adds, double *score)
{
    const int64_t leaf = -1 - (int64_t)at;
    const int32_t *first = a->in[HG_TREE_IN_FIRST].data, *target = a->in[HG_TREE_IN_TARGETS].data;
    const double *weight = a->in[HG_TREE_IN_WEIGHTS].data;
    const bool is_there = leaf + 1 < a->in[HG_TREE_IN_FIRST].dim[0];
    int64_t vote = is_there ? first[leaf] : -1;
    const int64_t end = is_there ? first[leaf + 1] : 0;
    if (HG_LIKELY(adds && vote >= 0 && end <= a->in[HG_TREE_IN_TARGETS].dim[0])) {
        for (; vote < end && (uint32_t)target[vote] < (uint64_t)a->out[0].dim[1]; vote++)
            score[target[vote]] += weight[vote];
        if (HG_LIKELY(vote >= end)) return;
    }
    hg_tree_votes(a, row, leaf, score);
}

static bool tree_adds(const hg_args *a)
{
    return a->param[0] == HG_TREE_SUM || a->param[0] == HG_TREE_AVERAGE;
}

/* Trees [tree, trees) for one row. */
static void tree_walk_row(const hg_args *a, int64_t row, int64_t trees, double *score)
{
    const int32_t *root = a->in[HG_TREE_IN_ROOTS].data;
    const float *x = (const float *)a->in[0].data + row * a->in[0].dim[1];
    const bool adds = tree_adds(a);
    tree_walkers w;
    for (int64_t t = 0; t < trees; t += TREE_LANES) {
        const int64_t count = hg_min(TREE_LANES, trees - t);
        for (int64_t i = 0; i < TREE_LANES; i++) {
            w.x[i] = x;
            w.at[i] = i < count ? root[t + i] : -1;
        }
        if (!tree_descend(a, &w)) {
            hg_tree_walk(a, row, row + 1, t, count, score);
            continue;
        }
        for (int64_t i = 0; i < count; i++)
            tree_vote(a, row, w.at[i], adds, score);
    }
}

/* One tree for rows [begin, end). */
static void tree_walk_tree(const hg_args *a, int64_t begin, int64_t end, int64_t tree,
                           double *score)
{
    const int32_t root = ((const int32_t *)a->in[HG_TREE_IN_ROOTS].data)[tree];
    const int64_t features = a->in[0].dim[1], targets = a->out[0].dim[1];
    const bool adds = tree_adds(a);
    tree_walkers w;
    for (int64_t row = begin; row < end; row += TREE_LANES, score += TREE_LANES * targets) {
        const int64_t count = hg_min(TREE_LANES, end - row);
        for (int64_t i = 0; i < TREE_LANES; i++) {
            w.x[i] = (const float *)a->in[0].data + hg_min(row + i, end - 1) * features;
            w.at[i] = root;
        }
        if (!tree_descend(a, &w)) {
            hg_tree_walk(a, row, row + count, tree, 1, score);
            continue;
        }
        for (int64_t i = 0; i < count; i++)
            tree_vote(a, row + i, w.at[i], adds, score + i * targets);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Columns of rows [begin, end), zeros behind the last; false when there is a NaN. */
static bool tree_turn(const hg_args *a, int64_t begin, int64_t end, float *column)
{
    const int64_t features = a->in[0].dim[1];
    bool has_nan = false;
    for (int64_t i = 0; i < HG_TREE_ROWS; i++) {
        const float *x = (const float *)a->in[0].data + (begin + i) * features;
        for (int64_t k = 0; k < features; k++) {
            const float v = begin + i < end ? x[k] : 0;
            has_nan = has_nan || v != v;
            column[k * HG_TREE_ROWS + i] = v;
        }
    }
    return !has_nan;
}

enum { TREE_VECTORS = HG_TREE_ROWS / 8 };

HG_INLINE __m256 tree_field(const int32_t *test, int field)
{
    return _mm256_set1_ps(hg_f32_from_bits((uint32_t)test[field]));
}

/* Rows whose x is above the split, or is another number, lose leaves. */
HG_INLINE void tree_lose(const bool is_equality, const bool both, const int32_t *test,
                         const float *x, __m256 (*left)[TREE_VECTORS])
{
    const __m256 split = tree_field(test, HG_TREE_TEST_SPLIT);
    const __m256 low = tree_field(test, HG_TREE_TEST_LOW);
    const __m256 high = tree_field(test, HG_TREE_TEST_HIGH);
    HG_GEMM_UNROLL
    for (int i = 0; i < TREE_VECTORS; i++) {
        __m256 *l = &left[0][i], *h = &left[1][i];
        const __m256 v = _mm256_loadu_ps(x + (int64_t)8 * i);
        const __m256 fails = is_equality ? _mm256_cmp_ps(v, split, _CMP_NEQ_UQ)
                                         : _mm256_cmp_ps(v, split, _CMP_NLE_UQ);
        *l = _mm256_xor_ps(*l, _mm256_and_ps(*l, _mm256_and_ps(low, fails)));
        if (both) *h = _mm256_xor_ps(*h, _mm256_and_ps(*h, _mm256_and_ps(high, fails)));
    }
}

/* The leaves each row can still reach when all nodes of the tree have been asked: 32 of them, or
 * with `both` 64. False: one asks for a feature that is not there. */
HG_INLINE bool tree_ask(const bool both, const int32_t *test, int64_t tests, const float *column,
                        uint32_t features, float *reach)
{
    const __m256 all = _mm256_set1_ps(hg_f32_from_bits(UINT32_MAX));
    __m256 left[2][TREE_VECTORS];
    HG_GEMM_UNROLL
    for (int i = 0; i < 2 * TREE_VECTORS; i++)
        left[i / TREE_VECTORS][i % TREE_VECTORS] = all;
    for (; tests > 0; tests--, test += HG_TREE_TEST_FIELDS) {
        const uint32_t feature = (uint32_t)test[HG_TREE_TEST_FEATURE];
        if (HG_LIKELY(feature < features))
            tree_lose(false, both, test, column + (int64_t)feature * HG_TREE_ROWS, left);
        else if (~feature < features)
            tree_lose(true, both, test, column + (int64_t)~feature * HG_TREE_ROWS, left);
        else
            return false;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < 2 * TREE_VECTORS; i++)
        _mm256_storeu_ps(reach + (int64_t)8 * i, left[i / TREE_VECTORS][i % TREE_VECTORS]);
    return true;
}

/* The place of the lowest bit, which is there: the exponent of its power of two. */
HG_INLINE uint32_t tree_lowest(uint32_t bits)
{
    const float power = (float)(int32_t)(bits & (~bits + 1));
    return (hg_bits_f32(power) >> 23 & 255) - 127;
}

/* One tree and a block of rows. */
typedef struct tree_block {
    const hg_args *a;
    const int32_t *plan;
    const float *column; /* [features, HG_TREE_ROWS] */
    int64_t begin, rows;
    double *score;
} tree_block;

/* The places of the leaves that rows reach, all below the number of leaves; false: rows walk. */
static bool tree_reach(const tree_block *b, uint32_t *place)
{
    float reach[2 * HG_TREE_ROWS];
    uint32_t low[2 * HG_TREE_ROWS], most = 0;
    const uint32_t *high = low + HG_TREE_ROWS;
    const int64_t leaves = b->plan[HG_TREE_PLAN_LEAVES], tests = b->plan[HG_TREE_PLAN_TESTS];
    const int32_t *test = (const int32_t *)b->a->in[HG_TREE_IN_TESTS].data +
                          (int64_t)b->plan[HG_TREE_PLAN_TEST] * HG_TREE_TEST_FIELDS;
    const uint32_t features = (uint32_t)b->a->in[0].dim[1];
    if (leaves <= 32 ? !tree_ask(false, test, tests, b->column, features, reach)
                     : !tree_ask(true, test, tests, b->column, features, reach))
        return false;
    memcpy(low, reach, sizeof low);
    for (int i = 0; i < HG_TREE_ROWS; i++) {
        const uint32_t near = tree_lowest(low[i]), far = 32 + tree_lowest(high[i]);
        place[i] = low[i] != 0 ? near : far;
        most = place[i] > most ? place[i] : most;
    }
    return (int64_t)most < leaves;
}

/* Leaves that have one vote each. */
static void tree_add(const tree_block *b, const int32_t *leaf, const uint32_t *place)
{
    const hg_args *a = b->a;
    const int32_t *targets = a->in[HG_TREE_IN_TARGETS].data;
    const double *weight = a->in[HG_TREE_IN_WEIGHTS].data;
    const uint64_t n_vote = (uint64_t)a->in[HG_TREE_IN_TARGETS].dim[0];
    const uint64_t n_target = (uint64_t)a->out[0].dim[1];
    double *score = b->score;
    for (int64_t i = 0; i < b->rows; i++, score += n_target) {
        const uint32_t vote = (uint32_t)leaf[place[i]];
        if (HG_LIKELY(vote < n_vote && (uint32_t)targets[vote] < n_target))
            score[targets[vote]] += weight[vote];
        else
            hg_fault_range(a->fault, "the number of a vote", b->begin + i, leaf[place[i]], 0,
                           (int64_t)n_vote - 1);
    }
}

static void tree_count_votes(const tree_block *b, const uint32_t *place)
{
    const hg_args *a = b->a;
    const int32_t *leaf =
        (const int32_t *)a->in[HG_TREE_IN_LEAVES].data + b->plan[HG_TREE_PLAN_LEAF];
    if (b->plan[HG_TREE_PLAN_SINGLE] != 0) {
        tree_add(b, leaf, place);
        return;
    }
    for (int64_t i = 0; i < b->rows; i++)
        hg_tree_votes(a, b->begin + i, leaf[place[i]], b->score + i * a->out[0].dim[1]);
}

/* The plan lies in its tables and suits the votes. */
static bool tree_is_planned(const hg_args *a, const int32_t *plan)
{
    const int64_t test = plan[HG_TREE_PLAN_TEST], tests = plan[HG_TREE_PLAN_TESTS];
    const int64_t leaf = plan[HG_TREE_PLAN_LEAF], leaves = plan[HG_TREE_PLAN_LEAVES];
    return tests >= 0 && test >= 0 && test + tests <= a->in[HG_TREE_IN_TESTS].dim[0] && leaf >= 0 &&
           leaves >= 1 && leaves <= HG_TREE_PLAN_MOST &&
           leaf + leaves <= a->in[HG_TREE_IN_LEAVES].dim[0] &&
           (tree_adds(a) || plan[HG_TREE_PLAN_SINGLE] == 0);
}

static const int32_t *tree_plan(const hg_args *a, int64_t tree)
{
    return (const int32_t *)a->in[HG_TREE_IN_PLANS].data + tree * HG_TREE_PLAN_FIELDS;
}

/* Rows [begin, end) through all trees; column is room for them. Turning them into columns is not
 * worth it for one tree. */
static void tree_rows(const hg_args *a, int64_t begin, int64_t end, float *column, double *score)
{
    const int64_t rows = end - begin, trees = a->in[HG_TREE_IN_ROOTS].dim[0];
    const bool are_few = rows < TREE_MIN_ROWS;
    const bool compares = !are_few && (trees > 1 || !tree_walks(a)) && tree_fits(a) &&
                          tree_turn(a, begin, end, column);
    const float *x = (const float *)a->in[0].data + begin * a->in[0].dim[1];
    const bool walks = tree_walks(a) && (compares || !tree_has_nan(x, rows * a->in[0].dim[1]));
    tree_block b = {.a = a, .column = column, .begin = begin, .rows = rows, .score = score};
    uint32_t place[HG_TREE_ROWS];
    hg_tree_begin(a, rows, score);
    for (int64_t i = 0; i < rows && are_few && walks; i++)
        tree_walk_row(a, begin + i, trees, score + i * a->out[0].dim[1]);
    for (int64_t t = 0; t < trees && !(are_few && walks); t++) {
        b.plan = compares ? tree_plan(a, t) : NULL;
        if (compares && tree_is_planned(a, b.plan) && tree_reach(&b, place))
            tree_count_votes(&b, place);
        else if (walks)
            tree_walk_tree(a, begin, end, t, score);
        else
            hg_tree_walk(a, begin, end, t, 1, score);
    }
    hg_tree_end(a, begin, end, score);
}

static void tree_run(const hg_args *a, hg_range r)
{
    const int64_t unit = tree_unit(a);
    char *column = (char *)r.scratch + hg_align_up(hg_tree_scratch(a), HG_ALIGN);
    r.begin *= unit;
    r.end = hg_min(r.end * unit, a->out[0].dim[0]);
    if (!tree_fits(a) && !tree_walks(a)) {
        hg_tree_run(a, r);
        return;
    }
    for (int64_t row = r.begin; row < r.end; row += HG_TREE_ROWS)
        tree_rows(a, row, hg_min(row + HG_TREE_ROWS, r.end), (float *)(void *)column, r.scratch);
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
