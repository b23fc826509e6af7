/* pool.c - pool against its definition, in both layouts. */
#include "kernel/pool.h"

#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_pool[];
#if defined(TUNED)
extern const hg_kernel TUNED(pool)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_pool_planes_avx2[];
#endif

typedef struct pool_case {
    int rank;
    int64_t n, c, in[3], kernel[3], stride[3], begin[3], end[3], dilation[3], out[3];
} pool_case;

static const pool_case pool_cases[] = {
    {1, 2, 3, {9}, {3}, {2}, {0}, {0}, {1}, {4}},
    {2, 2, 3, {7, 8}, {3, 2}, {2, 1}, {1, 0}, {1, 1}, {1, 2}, {4, 7}},
    {2, 1, 5, {5, 5}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}, {5, 5}},
    {2, 1, 17, {6, 6}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {3, 3}},
    {2, 1, 2, {4, 4}, {2, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1}, {2, 2}},
    {3, 1, 2, {4, 5, 6}, {2, 3, 2}, {1, 2, 3}, {1, 1, 0}, {0, 1, 1}, {2, 1, 1}, {3, 3, 2}},
    {3, 2, 3, {5, 4, 4}, {3, 3, 3}, {2, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 2, 1}, {3, 2, 2}},
    {3, 1, 2, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {3, 0, 0}, {0, 0, 0}, {1, 1, 1}, {3, 2, 2}},
    {2, 1, 2, {5, 70}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {5, 70}}, /* rows of many vectors */
    {2, 1, 2, {4, 91}, {2, 2}, {2, 2}, {0, 1}, {0, 0}, {1, 1}, {2, 46}},
    {2, 1, 2, {6, 64}, {3, 4}, {3, 3}, {1, 1}, {1, 2}, {1, 1}, {2, 22}},
    {2, 1, 1, {3, 40}, {1, 3}, {1, 1}, {0, 4}, {0, 4}, {1, 2}, {3, 44}},
    {2, 1, 1, {3, 3}, {2, 2}, {1, 1}, {4, 4}, {0, 0}, {1, 1}, {6, 6}}, /* windows of padding alone
                                                                        */
    {2, 1, 1, {3, 3}, {2, 2}, {1, 1}, {-1, 0}, {0, -1}, {1, 1}, {1, 1}},
    {2, 0, 3, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {2, 2}},
    {2, 1, 2, {0, 3}, {2, 2}, {1, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 2}}, /* nothing but padding */
};

static void pool_dims(const pool_case *p, const int64_t *spatial, bool nhwc, int64_t *dim)
{
    dim[0] = p->n;
    dim[nhwc ? p->rank + 1 : 1] = p->c;
    for (int d = 0; d < p->rank; d++)
        dim[(nhwc ? 1 : 2) + d] = spatial[d];
}

static void pool_make(move_call *c, const pool_case *p, holo_dtype dtype, int64_t mode, bool nhwc,
                      bool indices)
{
    int64_t in[5], out[5];
    pool_dims(p, p->in, nhwc, in);
    pool_dims(p, p->out, nhwc, out);
    value_in(c, dtype, p->rank + 2, in, 7);
    move_out(c, dtype, p->rank + 2, out);
    if (indices) move_out(c, HOLO_I64, p->rank + 2, out);
    const int64_t head[] = {mode, nhwc, p->rank, 3, 0};
    value_params(c, head, 5);
    value_params(c, p->kernel, p->rank);
    value_params(c, p->stride, p->rank);
    value_params(c, p->begin, p->rank);
    value_params(c, p->end, p->rank);
    value_params(c, p->dilation, p->rank);
}

typedef struct pool_answer {
    double largest, sum, powers;
    int64_t inside, padded, index, columns; /* of the largest, both ways to count */
} pool_answer;

/* Everything about one output, straight from the definition. */
static pool_answer pool_oracle(const pool_case *p, const holo_tensor *x, bool nhwc, int64_t n,
                               int64_t ch, const int64_t *o)
{
    pool_answer a = {.largest = -INFINITY, .index = -1};
    int64_t taps = 1, plane = 1;
    for (int d = 0; d < p->rank; d++)
        taps *= p->kernel[d], plane *= p->in[d];
    for (int64_t t = 0; t < taps; t++) {
        int64_t rest = t, at = 0, column = 0, step = 1, column_step = plane;
        bool inside = true, padded = true;
        for (int d = p->rank - 1; d >= 0; d--) {
            const int64_t i =
                o[d] * p->stride[d] - p->begin[d] + rest % p->kernel[d] * p->dilation[d];
            rest /= p->kernel[d];
            inside = inside && i >= 0 && i < p->in[d];
            padded = padded && i >= -p->begin[d] && i < p->in[d] + p->end[d];
            at += i * step;
            step *= p->in[d];
            column_step /= p->in[d] == 0 ? 1 : p->in[d];
            column += i * column_step;
        }
        a.padded += padded;
        if (!inside) continue;
        const double v =
            value_get(x, nhwc ? (n * plane + at) * p->c + ch : (n * p->c + ch) * plane + at);
        a.inside++;
        a.sum += v;
        a.powers += fabs(v * v * v);
        if (a.index >= 0 && v <= a.largest) continue;
        a.largest = v;
        a.index = (n * p->c + ch) * plane + at;
        a.columns = (n * p->c + ch) * plane + column;
    }
    return a;
}

static double pool_expected(const pool_answer *a, int64_t mode, holo_dtype dtype)
{
    if (mode == HG_POOL_MAX && a->inside == 0)
        return dtype == HOLO_I8 ? -128.0 : dtype == HOLO_U8 ? 0.0 : -INFINITY;
    if (mode == HG_POOL_MAX) return a->largest;
    if (mode == HG_POOL_AVERAGE) return a->inside == 0 ? 0.0 : a->sum / (double)a->inside;
    if (mode == HG_POOL_AVERAGE_PADDED) return a->padded == 0 ? 0.0 : a->sum / (double)a->padded;
    return cbrt(a->powers);
}

static void pool_compare(const hg_kernel *kernel, const pool_case *p, holo_dtype dtype,
                         int64_t mode, bool nhwc, bool indices, int64_t order)
{
    move_call c = {0};
    pool_make(&c, p, dtype, mode, nhwc, indices);
    c.param[HG_POOL_PARAM_ORDER] = order;
    if (move_run(kernel, &c)) {
        const int64_t count = holo_tensor_count(&c.out[0]);
        for (int64_t i = 0; i < count; i++) {
            int64_t at[5], o[3];
            move_coordinates(&c.out[0], i, at);
            for (int d = 0; d < p->rank; d++)
                o[d] = at[(nhwc ? 1 : 2) + d];
            const pool_answer a =
                pool_oracle(p, &c.in[0], nhwc, at[0], at[nhwc ? p->rank + 1 : 1], o);
            if (!value_near(&c.out[0], i, pool_expected(&a, mode, dtype))) break;
            if (indices && a.index >= 0 &&
                !CHECK_EQ_INT(((int64_t *)c.out[1].data)[i], order == 0 ? a.index : a.columns))
                break;
        }
    }
    move_free(&c);
}

static void pool_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16, HOLO_I8, HOLO_U8};
    for (size_t k = 0; k < HG_COUNT(pool_cases); k++)
        for (size_t t = 0; t < HG_COUNT(types); t++)
            for (int64_t mode = 0; mode <= (t < 4 ? 3 : 0); mode++)
                for (int layout = 0; layout < 2; layout++)
                    pool_compare(hg_kernels_pool, &pool_cases[k], types[t], mode, layout == 1,
                                 false, 0);
}

static void pool_indices(void)
{
    for (size_t k = 0; k < HG_COUNT(pool_cases); k++)
        for (int64_t order = 0; order < 2; order++) {
            pool_compare(hg_kernels_pool, &pool_cases[k], HOLO_F32, HG_POOL_MAX, false, true,
                         order);
            pool_compare(hg_kernels_pool, &pool_cases[k], HOLO_U8, HG_POOL_MAX, false, true, order);
        }
}

/* NaN wins, wherever it stands in the window, and is found. */
static void pool_nan(void)
{
    for (int64_t where = 0; where < 4; where++)
        for (int indices = 0; indices < 2; indices++) {
            static const pool_case p = {2,      1,      1,      {2, 2}, {2, 2},
                                        {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
            move_call c = {0};
            pool_make(&c, &p, HOLO_F32, HG_POOL_MAX, false, indices == 1);
            value_set(&c.in[0], where, NAN);
            if (move_run(hg_kernels_pool, &c)) {
                CHECK(isnan(value_get(&c.out[0], 0)));
                if (indices == 1) CHECK_EQ_INT(*(int64_t *)c.out[1].data, where);
            }
            move_free(&c);
        }
}

#if defined(TUNED)
/* NaN, infinities and both zeros among the numbers. */
static void pool_spoil(holo_tensor *x)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F};
    for (int64_t i = 0; i < holo_tensor_count(x); i++)
        if (i * 7 % 11 < 5) ((float *)x->data)[i] = odd[i * 7 % 11];
}

/* The same bits, but for which NaN it is; from a fast variant the same numbers. */
static bool pool_same(const hg_kernel *tuned, const holo_tensor *y, const float *expected)
{
    const float *found = y->data;
    for (int64_t i = 0; i < holo_tensor_count(y); i++) {
        const bool is_equal = tuned->flags == HG_KERNEL_FAST
                                  ? found[i] == expected[i]
                                  : memcmp(&found[i], &expected[i], 4) == 0;
        if (!is_equal && !(isnan(found[i]) && isnan(expected[i]))) return false;
    }
    return true;
}

/* A variant gives the reference's bits, or its numbers. */
static void pool_matches(const hg_kernel *tuned, const pool_case *p, int64_t mode, bool nhwc,
                         bool spoiled)
{
    move_call c = {0};
    pool_make(&c, p, HOLO_F32, mode, nhwc, false);
    if (spoiled) pool_spoil(&c.in[0]);
    if (move_run(hg_kernels_pool, &c)) {
        const size_t bytes = holo_tensor_bytes(&c.out[0]);
        void *expected = malloc(bytes + 1);
        memcpy(expected, c.out[0].data, bytes);
        memset(c.out[0].data, 0, bytes);
        if (move_run(tuned, &c)) CHECK(pool_same(tuned, &c.out[0], expected));
        free(expected);
    }
    move_free(&c);
}

static void pool_tuned(void)
{
    static const int64_t channels[] = {1, 7, 8, 9, 32, 47, 72};
    if (!tuned_runs()) return;
    for (size_t k = 0; k < HG_COUNT(pool_cases); k++)
        for (int64_t i = 0; i < (int64_t)HG_COUNT(channels) * 6; i++) {
            pool_case p = pool_cases[k];
            p.c = channels[i / 6];
            if (p.rank > 1) pool_matches(TUNED(pool), &p, i % 3, i / 3 % 2 == 0, k % 2 == 1);
        }
}

/* The second variant adds the rows of windows that overlap first. */
static void pool_fast(void)
{
    static const pool_case more[] = {
        {2, 2, 1, {20, 33}, {9, 9}, {1, 1}, {4, 4}, {4, 4}, {1, 1}, {20, 33}},
        {2, 1, 12, {9, 11}, {5, 4}, {1, 1}, {2, 2}, {2, 1}, {1, 1}, {9, 11}},
        {3, 1, 3, {6, 9, 14}, {3, 4, 5}, {2, 1, 1}, {1, 1, 2}, {1, 2, 2}, {1, 1, 1}, {3, 9, 14}},
        {2, 1, 2, {8, 3}, {3, 2}, {1, 1}, {1, 0}, {1, 0}, {2, 1}, {6, 2}}, /* a short row */
    };
    const hg_kernel *fast = TUNED(pool) + 1;
    if (!tuned_runs()) return;
    CHECK(fast->flags == HG_KERNEL_FAST);
    for (size_t k = 0; k < HG_COUNT(pool_cases) + HG_COUNT(more); k++)
        for (int64_t i = 0; i < 6; i++) {
            const bool is_more = k >= HG_COUNT(pool_cases);
            const pool_case *p = is_more ? &more[k - HG_COUNT(pool_cases)] : &pool_cases[k];
            if (p->rank > 1) pool_compare(fast, p, HOLO_F32, i % 3, i > 2, false, 0);
        }
}

#if defined(__x86_64__)
static void pool_planes(void)
{
    static const pool_case more[] = {
        {1, 1, 2, {100}, {5}, {3}, {2}, {2}, {1}, {34}},
        {2, 1, 2, {40, 37}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {20, 19}},
        {2, 1, 1, {20, 20}, {13, 13}, {1, 1}, {6, 6}, {6, 6}, {1, 1}, {20, 20}},
        {2, 1, 1, {21, 33}, {3, 4}, {5, 6}, {1, 2}, {0, 1}, {2, 3}, {4, 5}},
        {3, 1, 2, {6, 20, 17}, {3, 2, 3}, {2, 1, 1}, {1, 0, 1}, {1, 0, 1}, {1, 1, 1}, {3, 19, 17}},
    };
    const hg_kernel *fast = hg_kernels_pool_planes_avx2 + 1;
    if (!tuned_runs()) return;
    CHECK(fast->flags == HG_KERNEL_FAST);
    for (size_t k = 0; k < HG_COUNT(pool_cases) + HG_COUNT(more); k++) {
        const bool is_more = k >= HG_COUNT(pool_cases);
        const pool_case *p = is_more ? &more[k - HG_COUNT(pool_cases)] : &pool_cases[k];
        for (int64_t i = 0; i < 6; i++)
            pool_matches(hg_kernels_pool_planes_avx2, p, i % 3, false, i > 2);
        for (int64_t mode = 0; mode < 3; mode++)
            pool_compare(fast, p, HOLO_F32, mode, false, false, 0);
        pool_matches(fast, p, HG_POOL_MAX, false, true);
    }
}

static void pool_make_planes(move_call *c)
{
    static const pool_case p = {2, 1, 4, {5, 5}, {3, 3}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {2, 2}};
    pool_make(c, &p, HOLO_F32, HG_POOL_MAX, false, false);
}

static void pool_planes_refuses(void)
{
    enum { KERNEL = HG_POOL_PARAM_LISTS };
    static const move_bad bad[] = {
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, HG_POOL_LP, "not tuned for this"},
        {MOVE_PARAM, KERNEL, 0, 1 << 21, "not tuned for this"},
        {MOVE_PARAM, KERNEL + 1, 0, 1 << 10, "not tuned for this"},
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, 9, "mode is 9"},
    };
    MOVE_REFUSES(hg_kernels_pool_planes_avx2, pool_make_planes, bad);
}
#endif

static void pool_make_tuned(move_call *c)
{
    static const pool_case p = {2, 1, 4, {5, 5}, {3, 3}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {2, 2}};
    pool_make(c, &p, HOLO_F32, HG_POOL_MAX, true, false);
}

static void pool_tuned_refuses(void)
{
    static const move_bad bad[] = {
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, HG_POOL_LP, "not tuned for this"},
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, 9, "mode is 9"},
    };
    MOVE_REFUSES(TUNED(pool), pool_make_tuned, bad);
}
#endif

/* A kernel much larger than the input costs what the input costs. */
static void pool_huge_kernel(void)
{
    static const pool_case p = {2,
                                1,
                                1,
                                {3, 3},
                                {1 << 30, 1 << 30},
                                {1, 1},
                                {1, 1},
                                {(1 << 30) - 1, (1 << 30) - 1},
                                {1, 1},
                                {3, 3}};
    move_call c = {0};
    pool_make(&c, &p, HOLO_F32, HG_POOL_MAX, false, false);
    CHECK(move_run(hg_kernels_pool, &c));
    move_free(&c);
}

static void pool_make_good(move_call *c)
{
    pool_make(c, &pool_cases[1], HOLO_F32, HG_POOL_MAX, false, true);
}

static void pool_refuses(void)
{
    enum { KERNEL = HG_POOL_PARAM_LISTS, STRIDE = KERNEL + 2, BEGIN = STRIDE + 2, END = BEGIN + 2 };
    enum { DILATION = END + 2 };
    static const move_bad bad[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs"},
        {MOVE_N_OUT, 0, 0, 3, "3 outputs"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_PARAM, 0, 0, 14, "14 parameters"},
        {MOVE_N_PARAM, 0, 0, 0, "parameter 0, mode, is missing"},
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, 4, "mode is 4"},
        {MOVE_PARAM, HG_POOL_PARAM_MODE, 0, 1, "mode 1 has no indices"},
        {MOVE_PARAM, HG_POOL_PARAM_LAYOUT, 0, 2, "layout is 2"},
        {MOVE_PARAM, HG_POOL_PARAM_SPATIAL, 0, 0, "number of spatial axes is 0"},
        {MOVE_PARAM, HG_POOL_PARAM_SPATIAL, 0, 7, "number of spatial axes is 7"},
        {MOVE_PARAM, HG_POOL_PARAM_P, 0, 0, "p is 0"},
        {MOVE_PARAM, HG_POOL_PARAM_ORDER, 0, 2, "storage order is 2"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_NONE, "output 0 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_F64, "output has type float64"},
        {MOVE_OUT_TYPE, 1, 0, HOLO_I32, "output 1 has type int32"},
        {MOVE_IN_RANK, 0, 0, 3, "input has rank 3"},
        {MOVE_OUT_RANK, 0, 0, 3, "output has rank 3"},
        {MOVE_OUT_DIM, 0, 0, 3, "output has 3 images of 3 channels"},
        {MOVE_OUT_DIM, 0, 1, 4, "output has 2 images of 4 channels"},
        {MOVE_OUT_DIM, 1, 2, 5, "indices: dimension 2 is 5"},
        {MOVE_PARAM, KERNEL, 0, 0, "kernel is 0"},
        {MOVE_PARAM, STRIDE + 1, 0, 0, "stride is 0"},
        {MOVE_PARAM, BEGIN, 0, INT64_C(1) << 40, "padding is"},
        {MOVE_PARAM, END, 0, -(INT64_C(1) << 40), "padding is"},
        {MOVE_PARAM, DILATION, 0, 0, "dilation is 0"},
    };
    MOVE_REFUSES(hg_kernels_pool, pool_make_good, bad);
}

/* What needs two changes at once. */
static void pool_refuses_pairs(void)
{
    move_call c = {0};
    holo_error e = {0};
    pool_make(&c, &pool_cases[3], HOLO_I8, HG_POOL_MAX, false, false);
    move_connect(&c);
    c.param[HG_POOL_PARAM_MODE] = HG_POOL_AVERAGE;
    CHECK_STATUS(hg_kernels_pool->check(&c.args, &e), HOLO_E_TYPE);
    move_free(&c);
    static const pool_case square = {2,      1,      2,      {2, 2}, {1, 1},
                                     {1, 1}, {0, 0}, {0, 0}, {1, 1}, {2, 2}};
    pool_make(&c, &square, HOLO_F32, HG_POOL_MAX, false, true);
    move_connect(&c);
    c.param[HG_POOL_PARAM_LAYOUT] = HG_POOL_NHWC;
    CHECK_STATUS(hg_kernels_pool->check(&c.args, &e), HOLO_E_FORMAT);
    CHECK_HAS(e.message, "layout 1 has no indices");
    c.param[HG_POOL_PARAM_LAYOUT] = HG_POOL_NCHW;
    c.args.n_out = 1;
    c.out[0].dim[2] = INT64_C(1) << 40;
    c.in[0].dim[0] = c.out[0].dim[0] = c.in[0].dim[1] = c.out[0].dim[1] = 1;
    c.param[HG_POOL_PARAM_LISTS + 2] = INT32_MAX;
    CHECK_STATUS(hg_kernels_pool->check(&c.args, &e), HOLO_E_SHAPE);
    CHECK_HAS(e.message, "is too large");
    move_free(&c);
}

const hg_test_case hg_tests_kernel_pool[] = {
    {"values", pool_values},
    {"indices", pool_indices},
    {"nan", pool_nan},
    {"huge_kernel", pool_huge_kernel},
#if defined(TUNED)
    {"tuned", pool_tuned},
    {"fast", pool_fast},
    {"tuned_refuses", pool_tuned_refuses},
#endif
#if defined(__x86_64__)
    {"planes", pool_planes},
    {"planes_refuses", pool_planes_refuses},
#endif
    {"refuses", pool_refuses},
    {"refuses_pairs", pool_refuses_pairs},
    {0},
};
