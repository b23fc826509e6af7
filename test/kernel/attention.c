/* attention.c - kernel "attention" against the definition in f64: views, masks, rows without keys.
 */
#include "kernel/attention.h"

#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_attention[];
#if defined(TUNED)
extern const hg_kernel TUNED(attention)[];
#endif

/* Variant v of the kernel; NULL when there are no more. */
static const hg_kernel *attention_variant(int v)
{
    if (v == 0) return hg_kernels_attention;
#if defined(TUNED)
    if (v == 1 && tuned_runs()) return TUNED(attention);
#endif
    return NULL;
}

/* How the operands lie. */
typedef enum attention_lie {
    LIE_BY_HEAD, /* [batch, heads, rows, columns] each */
    LIE_BY_ROW,  /* [batch, rows, heads, columns] each */
    LIE_TURNED,  /* [batch, heads, columns, rows] each */
    LIE_APART    /* as BY_ROW, with columns two apart */
} attention_lie;

typedef struct attention_case {
    int64_t batch, heads, queries, keys, size, width, repeat;
    attention_lie lie;
    int64_t layout;
    int bias_rank; /* -1: none */
    int64_t bias[4];
    int keep_rank;
    int64_t keep[4];
} attention_case;

static const attention_case attention_cases[] = {
    {1, 1, 1, 1, 1, 1, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {2, 3, 24, 24, 32, 32, 1, LIE_BY_ROW, 1, -1, {0}, -1, {0}},
    {2, 3, 50, 77, 40, 40, 1, LIE_BY_ROW, 1, -1, {0}, -1, {0}},
    {1, 2, 130, 64, 64, 64, 1, LIE_BY_HEAD, 1, 2, {130, 64}, -1, {0}},
    {2, 2, 17, 33, 20, 7, 1, LIE_TURNED, 0, 4, {2, 1, 1, 33}, -1, {0}},
    {2, 2, 17, 33, 20, 25, 1, LIE_APART, 0, 4, {1, 2, 17, 1}, -1, {0}},
    {1, 6, 9, 20, 16, 16, 3, LIE_BY_ROW, 1, 1, {1}, 4, {1, 6, 9, 20}},
    {2, 4, 1, 100, 64, 64, 2, LIE_BY_HEAD, 0, 2, {1, 100}, -1, {0}},
    {2, 4, 3, 101, 65, 109, 4, LIE_BY_ROW, 1, -1, {0}, 4, {2, 1, 1, 101}},
    {1, 2, 4, 5, 8, 8, 1, LIE_TURNED, 0, -1, {0}, 2, {4, 1}},
    /* more than one block of keys */
    {1, 2, 10, 400, 8, 16, 1, LIE_BY_ROW, 1, 2, {10, 400}, -1, {0}},
    {1, 1, 60, 1200, 5, 9, 1, LIE_BY_HEAD, 0, -1, {0}, 1, {1200}},
    /* too much to be packed at once: 500 * 3000 > 2^20 */
    {1, 1, 7, 500, 1500, 1500, 1, LIE_BY_ROW, 1, -1, {0}, -1, {0}},
    /* nothing to do, nothing to attend to, nothing to compare */
    {0, 2, 3, 4, 5, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 0, 4, 5, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 3, 4, 5, 0, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 3, 0, 5, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 30, 0, 5, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 3, 4, 0, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
    {1, 2, 30, 40, 0, 6, 1, LIE_BY_HEAD, 0, -1, {0}, -1, {0}},
};

/* Input i with its view, one element behind the beginning. */
static void attention_operand(move_call *c, const attention_case *s, int64_t heads, int64_t rows,
                              int64_t cols, uint64_t seed)
{
    const int64_t wide = s->lie == LIE_APART ? 2 * cols : cols;
    const int64_t count = s->batch * heads * rows * wide;
    value_in(c, HOLO_F32, 1, MOVE_DIMS(count + 1), seed);
    const bool by_row = s->lie == LIE_BY_ROW || s->lie == LIE_APART;
    int64_t view[5] = {1, heads * rows * wide, by_row ? wide : rows * wide,
                       by_row ? heads * wide : wide, s->lie == LIE_APART ? 2 : 1};
    if (s->lie == LIE_TURNED) view[3] = 1, view[4] = rows;
    memcpy(c->param + HG_ATTENTION_VIEWS + 5 * (c->args.n_in - 1), view, sizeof view);
}

static void attention_set_f64(move_call *c, int at, double v)
{
    memcpy(&c->param[at], &v, sizeof v);
}

static void attention_make(move_call *c, const attention_case *s)
{
    const int64_t sizes[] = {s->batch, s->heads, s->queries, s->keys, s->size, s->width, s->repeat};
    memcpy(c->param, sizes, sizeof sizes);
    attention_operand(c, s, s->heads, s->queries, s->size, 21);
    attention_operand(c, s, s->heads / s->repeat, s->keys, s->size, 22);
    attention_operand(c, s, s->heads / s->repeat, s->keys, s->width, 23);
    if (s->bias_rank >= 0) value_in(c, HOLO_F32, s->bias_rank, s->bias, 24);
    if (s->bias_rank < 0 && s->keep_rank >= 0) value_absent(c);
    if (s->keep_rank >= 0) {
        holo_tensor *keep = move_in(c, HOLO_BOOL, s->keep_rank, s->keep);
        for (int64_t i = 0; i < holo_tensor_count(keep); i++)
            ((uint8_t *)keep->data)[i] = i % 3 != 1;
    }
    const bool by_row = s->layout == HG_ATTENTION_BY_ROW;
    move_out(c, HOLO_F32, 4,
             MOVE_DIMS(s->batch, by_row ? s->queries : s->heads, by_row ? s->heads : s->queries,
                       s->width));
    c->param[HG_ATTENTION_LAYOUT] = s->layout;
    attention_set_f64(c, HG_ATTENTION_FILL, -1.5);
    attention_set_f64(c, HG_ATTENTION_SCALE, 0.25);
    c->args.n_param = HG_ATTENTION_PARAMS;
}

/* ---- the definition in f64 ------------------------------------------------------------------- */

typedef struct attention_place {
    int64_t batch, head, row;
} attention_place;

static double attention_element(const move_call *c, int view, attention_place p, int64_t row,
                                int64_t col)
{
    const int64_t *v = c->param + HG_ATTENTION_VIEWS + 5 * view;
    const int64_t head = view == 0 ? p.head : p.head / c->param[HG_ATTENTION_REPEAT];
    return value_get(&c->in[view], v[0] + p.batch * v[1] + head * v[2] + row * v[3] + col * v[4]);
}

static int64_t attention_masked(const holo_tensor *t, attention_place p, int64_t key)
{
    const int64_t at[4] = {p.batch, p.head, p.row, key};
    int64_t own[4];
    for (int d = 0; d < t->rank; d++)
        own[d] = t->dim[d] == 1 ? 0 : at[4 - t->rank + d];
    return move_flat(t, own);
}

static double attention_score(const move_call *c, attention_place p, int64_t key)
{
    double sum = 0;
    for (int64_t i = 0; i < c->param[HG_ATTENTION_SIZE]; i++)
        sum += attention_element(c, 0, p, p.row, i) * attention_element(c, 1, p, key, i);
    sum *= hg_param_f64(&c->args, HG_ATTENTION_SCALE);
    if (hg_args_has(&c->args, 4) &&
        ((const uint8_t *)c->in[4].data)[attention_masked(&c->in[4], p, key)] ==
            c->param[HG_ATTENTION_DROPS])
        sum = hg_param_f64(&c->args, HG_ATTENTION_FILL);
    if (hg_args_has(&c->args, 3)) sum += value_get(&c->in[3], attention_masked(&c->in[3], p, key));
    return sum;
}

/* Probabilities of a row. */
static void attention_row(const move_call *c, attention_place p, double *probability)
{
    const int64_t keys = c->param[HG_ATTENTION_KEYS];
    double max = -(double)INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; j++) {
        probability[j] = attention_score(c, p, j);
        max = fmax(max, probability[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        sum += probability[j] = exp(probability[j] - max);
    for (int64_t j = 0; j < keys; j++)
        probability[j] /= sum;
}

static bool attention_compare_row(const move_call *c, attention_place p, const double *probability)
{
    const bool by_row = c->param[HG_ATTENTION_LAYOUT] == HG_ATTENTION_BY_ROW;
    for (int64_t i = 0; i < c->param[HG_ATTENTION_WIDTH]; i++) {
        double sum = 0;
        for (int64_t j = 0; j < c->param[HG_ATTENTION_KEYS]; j++)
            sum += probability[j] * attention_element(c, 2, p, j, i);
        const int64_t at[4] = {p.batch, by_row ? p.row : p.head, by_row ? p.head : p.row, i};
        /* errors of scores grow with their length */
        const double tolerance = 4e-6 + 1e-8 * (double)c->param[HG_ATTENTION_SIZE];
        if (CHECK_NEAR(value_get(&c->out[0], move_flat(&c->out[0], at)), sum, tolerance)) continue;
        hg_test_fail(HG_TEST_HERE, "batch %lld, head %lld, row %lld, column %lld",
                     (long long)p.batch, (long long)p.head, (long long)p.row, (long long)i);
        return false;
    }
    return true;
}

static void attention_compare(const move_call *c)
{
    double *probability = calloc((size_t)c->param[HG_ATTENTION_KEYS] + 1, sizeof(double));
    attention_place p = {0};
    for (p.batch = 0; p.batch < c->param[HG_ATTENTION_BATCH]; p.batch++)
        for (p.head = 0; p.head < c->param[HG_ATTENTION_HEADS]; p.head++)
            for (p.row = 0; p.row < c->param[HG_ATTENTION_QUERIES]; p.row++) {
                attention_row(c, p, probability);
                if (!attention_compare_row(c, p, probability)) p.row = INT32_MAX;
            }
    free(probability);
}

static void attention_matches(void)
{
    const hg_kernel *k;
    for (int v = 0; (k = attention_variant(v)) != NULL; v++)
        for (size_t i = 0; i < HG_COUNT(attention_cases) * 2; i++) {
            move_call c = {0};
            attention_make(&c, &attention_cases[i / 2]);
            c.param[HG_ATTENTION_DROPS] = (int64_t)(i % 2);
            if (move_run(k, &c)) attention_compare(&c);
            move_free(&c);
        }
}

/* ---- rows that are not numbers --------------------------------------------------------------- */

/* 12 queries of one number each, and `keys` keys, with rows 0 to 3 spoiled by their bias. */
static void attention_make_special(move_call *c, int64_t keys, int64_t empty)
{
    const attention_case s = {.batch = 1,
                              .heads = 1,
                              .queries = 12,
                              .keys = keys,
                              .size = 1,
                              .width = 1,
                              .repeat = 1,
                              .bias_rank = 2,
                              .bias = {12, keys},
                              .keep_rank = -1};
    attention_make(c, &s);
    float *bias = c->in[3].data;
    for (int64_t j = 0; j < keys; j++) {
        bias[0 * keys + j] = -INFINITY;
        bias[3 * keys + j] = j < keys - 1 ? -INFINITY : 0; /* sees the last key alone */
    }
    bias[1 * keys + 1] = INFINITY;
    bias[2 * keys + keys - 1] = NAN;
    c->param[HG_ATTENTION_EMPTY] = empty;
}

static void attention_special(void)
{
    static const int64_t keys[] = {5, 400, 900};
    const hg_kernel *k;
    for (int v = 0; (k = attention_variant(v)) != NULL; v++)
        for (size_t i = 0; i < HG_COUNT(keys) * 3; i++) {
            const int64_t empty = (int64_t)(i % 3), n = keys[i / 3];
            move_call c = {0};
            attention_make_special(&c, n, empty);
            if (move_run(k, &c)) {
                const float *y = c.out[0].data, *value = c.in[2].data;
                CHECK(empty == HG_ATTENTION_NAN ? isnan(y[0]) : y[0] == 0);
                CHECK(empty == HG_ATTENTION_ZERO ? y[1] == 0 : isnan(y[1]));
                CHECK(empty == HG_ATTENTION_ZERO ? y[2] == 0 : isnan(y[2]));
                CHECK_ULP(y[3], value[n], 1); /* element 0 is not part of the view */
                CHECK(isfinite(y[4]) && isfinite(y[11]));
            }
            move_free(&c);
        }
}

/* Scores that are not numbers without any bias. */
static void attention_special_scores(void)
{
    const hg_kernel *k;
    for (int v = 0; (k = attention_variant(v)) != NULL; v++)
        for (int64_t empty = 0; empty < 3; empty++) {
            move_call c = {0};
            attention_make(&c, &attention_cases[1]);
            ((float *)c.in[0].data)[1] = NAN;
            c.param[HG_ATTENTION_EMPTY] = empty;
            if (move_run(k, &c)) {
                const float *y = c.out[0].data;
                CHECK(empty == HG_ATTENTION_ZERO ? y[0] == 0 : isnan(y[0]));
                CHECK(isfinite(y[32]));
            }
            move_free(&c);
        }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void attention_make_good(move_call *c)
{
    attention_make(c, &attention_cases[6]);
}

enum { VIEW_K = HG_ATTENTION_VIEWS + 5 };

static const move_bad attention_bad[] = {
    {MOVE_N_IN, 0, 0, 2, "2 inputs, expected at least 3"},
    {MOVE_N_OUT, 0, 0, 2, "2 outputs, expected 1"},
    {MOVE_N_PARAM, 0, 0, 1, "1 parameters, expected"},
    {MOVE_IN_TYPE, 0, 0, HOLO_F64, "input 0 has type float64"},
    {MOVE_IN_TYPE, 1, 0, HOLO_I32, "input 1 has type int32"},
    {MOVE_IN_TYPE, 2, 0, HOLO_F16, "input 2 has type float16"},
    {MOVE_IN_TYPE, 3, 0, HOLO_I32, "input 3 has type int32"},
    {MOVE_IN_TYPE, 4, 0, HOLO_F32, "input 4 has type float32"},
    {MOVE_IN_DIM, 3, 0, 7, "bias: dimension"},
    {MOVE_IN_DIM, 4, 3, 19, "keep: dimension"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output 0 has type float64"},
    {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
    {MOVE_OUT_DIM, 0, 2, 5, "output dimension 2 is 5, expected 6"},
    {MOVE_PARAM, HG_ATTENTION_BATCH, 0, -1, "batch is -1"},
    {MOVE_PARAM, HG_ATTENTION_REPEAT, 0, 0, "repeat is 0"},
    {MOVE_PARAM, HG_ATTENTION_REPEAT, 0, 4, "6 heads are not a multiple of 4"},
    {MOVE_PARAM, HG_ATTENTION_LAYOUT, 0, 2, "layout is 2"},
    {MOVE_PARAM, HG_ATTENTION_EMPTY, 0, 3, "empty is 3"},
    {MOVE_PARAM, HG_ATTENTION_DROPS, 0, -1, "drops is -1"},
    {MOVE_PARAM, HG_ATTENTION_KEYS, 0, 21, "keys reach beyond their tensor"},
    {MOVE_PARAM, HG_ATTENTION_SIZE, 0, 17, "queries reach beyond their tensor"},
    {MOVE_PARAM, VIEW_K, 0, -1, "keys begin at element -1"},
    {MOVE_PARAM, VIEW_K, 0, INT64_MAX, "keys begin at element 9223372036854775807"},
    {MOVE_PARAM, VIEW_K + 2, 0, -16, "stride 1 of keys is -16"},
    {MOVE_PARAM, VIEW_K + 3, 0, INT64_MAX, "keys reach beyond their tensor in dimension 2"},
};

static void attention_refuses(void)
{
    const hg_kernel *k;
    for (int v = 0; (k = attention_variant(v)) != NULL; v++)
        MOVE_REFUSES(k, attention_make_good, attention_bad);
}

const hg_test_case hg_tests_kernel_attention[] = {
    {"matches", attention_matches},
    {"special", attention_special},
    {"special_scores", attention_special_scores},
    {"refuses", attention_refuses},
    {0},
};
