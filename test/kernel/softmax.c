/* softmax.c - kernel "softmax" against the definition in f64; every variant the same bits. */
#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_softmax[];
#if defined(TUNED)
extern const hg_kernel TUNED(softmax)[];
#endif

static const hg_kernel *softmax_tuned(void)
{
#if defined(TUNED)
    if (tuned_runs()) return TUNED(softmax);
#endif
    return NULL;
}

/* The fast one: behind the one that gives the same bits. */
static const hg_kernel *softmax_fast(void)
{
    return softmax_tuned() == NULL ? NULL : softmax_tuned() + 1;
}

static const hg_kernel *softmax_variant(int i)
{
    return i == 0 ? hg_kernels_softmax : i == 1 ? softmax_tuned() : softmax_fast();
}

typedef struct softmax_case {
    int rank;
    int64_t dim[4];
    int axis;
    int mask_rank; /* -1: no mask */
    int64_t mask[4];
} softmax_case;

static const softmax_case softmax_cases[] = {
    {1, {1}, 0, -1, {0}},
    {1, {7}, 0, -1, {0}},
    {1, {16}, 0, -1, {0}},
    {1, {1000}, 0, 1, {1000}},
    {2, {5, 33}, 1, -1, {0}},
    {2, {5, 33}, 0, -1, {0}},
    {2, {33, 300}, 0, -1, {0}},
    {3, {3, 20, 140}, 1, -1, {0}},
    {3, {3, 20, 140}, 1, 2, {20, 1}},
    {3, {3, 20, 14}, 1, 3, {3, 1, 14}},
    {3, {3, 20, 14}, 0, 3, {1, 20, 14}},
    {4, {2, 3, 17, 45}, 3, 2, {17, 45}},
    {4, {2, 3, 17, 45}, 3, 4, {2, 1, 1, 45}},
    {4, {2, 3, 17, 45}, 3, 2, {17, 1}},
    {4, {2, 3, 17, 45}, 3, 0, {0}},
    {4, {2, 3, 17, 5}, 2, 4, {2, 3, 17, 5}},
    {2, {0, 5}, 1, -1, {0}},
    {2, {5, 0}, 1, -1, {0}},
    {3, {4, 9, 1}, 1, -1, {0}},
    {2, {300, 1}, 1, -1, {0}},
    {2, {77, 3}, 1, -1, {0}},
    {2, {33, 8}, 1, -1, {0}},
    {2, {9, 5}, 1, 2, {1, 5}},
    {2, {5, 50}, 1, -1, {0}},
    {2, {5, 24}, 1, -1, {0}},
    {2, {5, 15}, 1, -1, {0}},
    {2, {3, 64}, 1, -1, {0}},
    {2, {3, 197}, 1, -1, {0}},
};

static void softmax_make(move_call *c, const softmax_case *s, holo_dtype dtype, int64_t is_log)
{
    value_in(c, dtype, s->rank, s->dim, 11);
    if (s->mask_rank >= 0) value_in(c, dtype, s->mask_rank, s->mask, 12);
    move_out(c, dtype, s->rank, s->dim);
    value_params(c, (const int64_t[]){s->axis, is_log}, 2);
}

/* x + mask at the coordinates. */
static double softmax_x(const move_call *c, const int64_t *at)
{
    const holo_tensor *x = &c->in[0], *m = &c->in[1];
    double v = value_get(x, move_flat(x, at));
    int64_t own[8];
    if (c->args.n_in < 2) return v;
    for (int d = 0; d < m->rank; d++)
        own[d] = m->dim[d] == 1 ? 0 : at[x->rank - m->rank + d];
    return v + value_get(m, move_flat(m, own));
}

static void softmax_compare(const move_call *c)
{
    const holo_tensor *y = &c->out[0];
    int axis = (int)c->param[0];
    for (int64_t i = 0; i < holo_tensor_count(y); i++) {
        int64_t at[8];
        double max = -(double)INFINITY, sum = 0;
        move_coordinates(y, i, at);
        double x = softmax_x(c, at);
        for (at[axis] = 0; at[axis] < y->dim[axis]; at[axis]++)
            max = fmax(max, softmax_x(c, at));
        for (at[axis] = 0; at[axis] < y->dim[axis]; at[axis]++)
            sum += exp(softmax_x(c, at) - max);
        double expected = c->param[1] != 0 ? x - max - log(sum) : exp(x - max) / sum;
        double scale = c->param[1] != 0 ? 1 + fabs(expected) : expected;
        double tolerance = y->dtype == HOLO_F32 ? 1e-6 : value_tolerance(y->dtype);
        double least = y->dtype == HOLO_F16 ? 0x1p-25 : 0; /* half of its smallest number */
        if (CHECK_NEAR(value_get(y, i), expected, tolerance * scale + least)) continue;
        hg_test_fail(HG_TEST_HERE, "%s, axis %d, element %lld", holo_dtype_text(y->dtype), axis,
                     (long long)i);
        return;
    }
}

static void softmax_matches(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t i = 0; i < HG_COUNT(softmax_cases) * HG_COUNT(types) * 2; i++) {
        const softmax_case *s = &softmax_cases[i / 2 / HG_COUNT(types)];
        holo_dtype dtype = types[i / 2 % HG_COUNT(types)];
        move_call c = {0}, d = {0};
        softmax_make(&c, s, dtype, (int64_t)(i % 2));
        softmax_make(&d, s, dtype, (int64_t)(i % 2));
        if (move_run(hg_kernels_softmax, &c)) softmax_compare(&c);
        if (softmax_tuned() != NULL && move_run(softmax_tuned(), &d))
            CHECK_MEM(d.out[0].data, c.out[0].data, holo_tensor_bytes(&c.out[0]));
        if (softmax_fast() != NULL && move_run(softmax_fast(), &d)) softmax_compare(&d);
        move_free(&c);
        move_free(&d);
    }
}

/* The fast one gives the same bits however its units are split. */
static void softmax_splits(void)
{
    for (size_t i = 0; softmax_fast() != NULL && i < HG_COUNT(softmax_cases) * 2; i++) {
        const hg_kernel *k = softmax_fast();
        move_call c = {0};
        softmax_make(&c, &softmax_cases[i / 2], HOLO_F32, (int64_t)(i % 2));
        if (move_run(k, &c)) {
            const size_t bytes = holo_tensor_bytes(&c.out[0]);
            const hg_work work = hg_kernel_work(k, &c.args);
            void *whole = malloc(bytes + 1), *scratch = malloc(work.scratch + 1);
            memcpy(whole, c.out[0].data, bytes);
            for (int64_t u = 0, n = 1; u < work.units; u += n, n = n % 13 + 3)
                k->run(&c.args, (hg_range){u, hg_min(u + n, work.units), scratch});
            CHECK_MEM(c.out[0].data, whole, bytes);
            free(whole);
            free(scratch);
        }
        move_free(&c);
    }
}

/* Over the memory of x, or of a mask of x's shape. */
static void softmax_in_place(void)
{
    for (size_t i = 0; i < HG_COUNT(softmax_cases) * 6; i++) {
        const softmax_case *s = &softmax_cases[i / 6];
        const hg_kernel *k = softmax_variant((int)(i % 6 / 2));
        uint32_t own = i % 2;
        bool has_own =
            own == 0 || (s->mask_rank == s->rank && memcmp(s->mask, s->dim, sizeof s->dim) == 0);
        if (k == NULL || !has_own) continue;
        for (int64_t is_log = 0; is_log < 2; is_log++) {
            move_call c = {0};
            softmax_make(&c, s, HOLO_F32, is_log);
            if (move_run(k, &c)) {
                void *separate = c.out[0].data,
                     *scratch = malloc(hg_kernel_work(k, &c.args).scratch);
                c.out[0].data = c.in[own].data;
                k->run(&c.args, (hg_range){0, hg_kernel_work(k, &c.args).units, scratch});
                CHECK_MEM(c.out[0].data, separate, holo_tensor_bytes(&c.out[0]));
                c.out[0].data = separate;
                free(scratch);
            }
            move_free(&c);
        }
    }
}

/* Rows with what is not finite; the first value of the result decides. */
static const struct {
    float x[3], expected[3];
} softmax_specials[] = {
    {{-INFINITY, -INFINITY, -INFINITY}, {NAN, NAN, NAN}},
    {{-INFINITY, 0, -INFINITY}, {0, 1, 0}},
    {{INFINITY, 0, 1}, {NAN, NAN, NAN}},
    {{NAN, 0, 1}, {NAN, NAN, NAN}},
    {{NAN, NAN, NAN}, {NAN, NAN, NAN}},
    {{1000, 1000, -1000}, {0.5f, 0.5f, 0}},
    {{-0.0f, 0, -0.0f}, {1 / 3.0f, 1 / 3.0f, 1 / 3.0f}},
};

static void softmax_special(void)
{
    for (int v = 0; v < 3; v++) {
        const hg_kernel *k = softmax_variant(v);
        for (size_t i = 0; k != NULL && i < HG_COUNT(softmax_specials) * 2; i++) {
            bool is_column = i % 2 != 0; /* 3 x 2: both columns the same */
            move_call c = {0};
            float *x = move_in(&c, HOLO_F32, 2, MOVE_DIMS(3, is_column ? 2 : 1))->data;
            const float *y = move_out(&c, HOLO_F32, 2, c.in[0].dim)->data;
            for (int k3 = 0; k3 < (is_column ? 6 : 3); k3++)
                x[k3] = softmax_specials[i / 2].x[is_column ? k3 / 2 : k3];
            value_params(&c, (const int64_t[]){0, 0}, 2);
            if (move_run(k, &c))
                for (int k3 = 0; k3 < (is_column ? 6 : 3); k3++)
                    CHECK_ULP(y[k3], softmax_specials[i / 2].expected[is_column ? k3 / 2 : k3], 1);
            move_free(&c);
        }
    }
}

/* The three at each place of a longer row of -inf, which adds nothing. */
static void softmax_special_long(const hg_kernel *k, int64_t n, const float *x3, const float *y3)
{
    for (int64_t at = 0; at + 3 <= n; at++) {
        move_call c = {0};
        float *x = move_in(&c, HOLO_F32, 2, MOVE_DIMS(1, n))->data;
        const float *y = move_out(&c, HOLO_F32, 2, c.in[0].dim)->data;
        for (int64_t i = 0; i < n; i++)
            x[i] = i >= at && i < at + 3 ? x3[i - at] : -INFINITY;
        value_params(&c, (const int64_t[]){1, 0}, 2);
        bool is_right = move_run(k, &c);
        for (int64_t i = 0; i < n && is_right; i++) {
            bool is_inside = i >= at && i < at + 3;
            is_right = CHECK_ULP(y[i], is_inside ? y3[i - at] : isnan(y3[0]) ? NAN : 0, 1);
        }
        move_free(&c);
    }
}

static void softmax_special_rows(void)
{
    static const int64_t n[] = {9, 16, 17, 24, 31, 50, 77};
    for (int v = 0; v < 3; v++) {
        const hg_kernel *k = softmax_variant(v);
        for (size_t i = 0; k != NULL && i < HG_COUNT(softmax_specials) * HG_COUNT(n); i++)
            softmax_special_long(k, n[i % HG_COUNT(n)], softmax_specials[i / HG_COUNT(n)].x,
                                 softmax_specials[i / HG_COUNT(n)].expected);
    }
}

static void softmax_make_good(move_call *c)
{
    softmax_make(c, &softmax_cases[11], HOLO_F32, 0);
}

static const move_bad softmax_bad[] = {
    {MOVE_N_IN, 0, 0, 0, "0 inputs, expected at least 1"},
    {MOVE_N_IN, 0, 0, 3, "3 inputs, expected at most 2"},
    {MOVE_N_OUT, 0, 0, 2, "2 outputs, expected 1"},
    {MOVE_N_PARAM, 0, 0, 1, "1 parameters, expected 2"},
    {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
    {MOVE_IN_RANK, 0, 0, 9, "input 0 has rank 9"},
    {MOVE_OUT_TYPE, 0, 0, HOLO_F16, "output has type float16, expected float32"},
    {MOVE_OUT_DIM, 0, 2, 5, "output: dimension 2 is 5, expected 17"},
    {MOVE_IN_TYPE, 1, 0, HOLO_I64, "input 1 has type int64"},
    {MOVE_IN_TYPE, 1, 0, HOLO_F64, "mask has type float64, expected float32"},
    {MOVE_IN_DIM, 1, 1, 44, "mask: dimension 1 is 44"},
    {MOVE_PARAM, 0, 0, 4, "axis is 4, expected 0 to 3"},
    {MOVE_PARAM, 0, 0, -1, "axis is -1, expected 0 to 3"},
    {MOVE_PARAM, 1, 0, 2, "log is 2, expected 0 to 1"},
};

static void softmax_refuses(void)
{
    MOVE_REFUSES(hg_kernels_softmax, softmax_make_good, softmax_bad);
    move_call c = {0};
    holo_error e = {0};
    value_in(&c, HOLO_F32, 0, NULL, 1);
    move_out(&c, HOLO_F32, 0, NULL);
    value_params(&c, (const int64_t[]){0, 0}, 2);
    move_connect(&c);
    CHECK_STATUS(hg_kernels_softmax->check(&c.args, &e), HOLO_E_ARG); /* a scalar has no axis */
    move_free(&c);
}

static void softmax_cost(void)
{
    move_call c = {0};
    hg_cost cost = {0};
    softmax_make_good(&c);
    move_connect(&c);
    hg_kernels_softmax->cost(&c.args, &cost);
    CHECK(cost.flops == 14.0 * 2 * 3 * 17 * 45);
    move_free(&c);
}

const hg_test_case hg_tests_kernel_softmax[] = {
    {"matches", softmax_matches},
    {"splits", softmax_splits},
    {"in_place", softmax_in_place},
    {"special", softmax_special},
    {"special_rows", softmax_special_rows},
    {"refuses", softmax_refuses},
    {"cost", softmax_cost},
    {0},
};
