/* topk.c - topk: the k largest or smallest elements along an axis, best first, and where they were.
 *
 *   in[0]  X, any number type
 *   param  axis, largest (0 or 1)
 *   out[0] values, X's type, k elements along the axis; may be absent
 *   out[1] indices, int64, the same shape; may be absent, but not both
 *
 * Of equal elements the one with the lower index is better; NaN is larger than every number; -0 and
 * 0 are equal. A list or a heap of k, or sorting: n log k steps a row. A unit is one row; rows that
 * lie side by side are walked together. */
#include "kernel/topk.h"

#include "kernel/elem.h"
#include "kernel/number.h"

enum {
    TOPK_ASK = 1 << 16, /* elements between two looks at the clock */
    TOPK_LISTED = 24,   /* most of k whose best are kept in order, not as a heap */
    TOPK_SKIP = 16      /* elements that are compared with the worst of the best at a time */
};

/* Of a type of 64 bits; larger keys are better. */
typedef struct topk_wide {
    uint64_t key;
    int64_t index;
} topk_wide;

#define T topk_wide
#define NAME(stem) topk_wide_##stem
#define WORSE(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).index > (b).index))
#include "kernel/topk_order.inc"
#undef T
#undef NAME
#undef WORSE

/* Of a narrower type: the key above the index, of which the lower one is better. */
#define T uint64_t
#define NAME(stem) topk_narrow_##stem
#define WORSE(a, b) ((a) < (b))
#include "kernel/topk_order.inc"
#undef T
#undef NAME
#undef WORSE

static bool topk_has_out(const hg_args *a, uint32_t j)
{
    return j < a->n_out && a->out[j].dtype != HOLO_NONE;
}

static const holo_tensor *topk_out(const hg_args *a)
{
    return &a->out[topk_has_out(a, 0) ? 0 : 1];
}

holo_status hg_topk_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_in == 1, HOLO_E_FORMAT, "%u inputs, expected 1", a->n_in);
    HG_REQUIRE(e, a->n_out <= 2 && (topk_has_out(a, 0) || topk_has_out(a, 1)), HOLO_E_FORMAT,
               "%u outputs, expected 1 or 2", a->n_out);
    HG_REQUIRE(e, a->n_param == 2, HOLO_E_FORMAT, "%u parameters, expected 2", a->n_param);
    HG_TRY(hg_check_in_type(a, e, 0, HG_TYPES_NUMBER));
    const holo_tensor *x = &a->in[0];
    HG_TRY(hg_check_param(a, e, 0, "axis", 0, x->rank - 1));
    HG_TRY(hg_check_param(a, e, 1, "largest", 0, 1));
    for (uint32_t j = 0; j < 2; j++) {
        if (!topk_has_out(a, j)) continue;
        const holo_tensor *y = &a->out[j];
        HG_TRY(hg_check_out_type(a, e, j, j == 0 ? HG_TYPES_NUMBER : HG_TYPE_BIT(HOLO_I64)));
        HG_REQUIRE(e, j == 1 || y->dtype == x->dtype, HOLO_E_TYPE,
                   "values have type %s, expected %s", holo_dtype_text(y->dtype),
                   holo_dtype_text(x->dtype));
        HG_TRY(hg_check_rank(y, e, "output", x->rank, x->rank));
        for (int d = 0; d < x->rank; d++)
            HG_REQUIRE(e, d == a->param[0] ? y->dim[d] <= x->dim[d] : y->dim[d] == x->dim[d],
                       HOLO_E_SHAPE, "dimension %d of output %u is %lld, expected %s%lld", d, j,
                       (long long)y->dim[d], d == a->param[0] ? "at most " : "",
                       (long long)x->dim[d]);
    }
    if (topk_has_out(a, 0) && topk_has_out(a, 1))
        HG_TRY(hg_check_same_shape(&a->out[1], &a->out[0], e, "indices"));
    return HOLO_OK;
}

int64_t hg_topk_units(const hg_args *a)
{
    const holo_tensor *y = topk_out(a);
    return holo_tensor_count(y) == 0 ? 0 : holo_tensor_count(y) / y->dim[a->param[0]];
}

/* Most of the elements are wanted: sorting them all is faster than a heap of them. */
static bool topk_sorts(int64_t n, int64_t k)
{
    return k > n / 4;
}

typedef struct topk_call {
    const holo_tensor *x;
    int64_t n, k, inner; /* of a row; elements from one of a row to the next */
    bool largest, sorts;
    bool is_wide; /* entries are topk_wide */
} topk_call;

static topk_call topk_call_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0];
    const int axis = (int)a->param[0];
    topk_call c = {.x = x, .n = x->dim[axis], .largest = a->param[1] != 0};
    c.k = topk_out(a)->dim[axis];
    c.inner = hg_dims_product(x, axis + 1, x->rank);
    c.sorts = topk_sorts(c.n, c.k);
    c.is_wide = hg_dtype_bits(x->dtype) == 64 || c.n > UINT32_MAX;
    return c;
}

static int64_t topk_entry_bytes(const topk_call *c)
{
    return (int64_t)(c->is_wide ? sizeof(topk_wide) : sizeof(uint64_t));
}

/* Rows that are walked together. */
static int64_t topk_together(const topk_call *c)
{
    return c->sorts ? 1 : hg_min(c->inner, TOPK_SKIP);
}

size_t hg_topk_scratch(const hg_args *a)
{
    if (hg_topk_units(a) == 0) return 0;
    const topk_call c = topk_call_of(a);
    return (size_t)((c.sorts ? 2 * c.n : c.k * topk_together(&c)) * topk_entry_bytes(&c));
}

/* A number whose order as unsigned is that of the elements. */
static uint64_t topk_wide_key(const holo_tensor *x, int64_t i)
{
    const uint64_t sign = UINT64_C(1) << 63;
    if (x->dtype == HOLO_U64) return ((const uint64_t *)x->data)[i];
    if (x->dtype == HOLO_I64) return (uint64_t)((const int64_t *)x->data)[i] ^ sign;
    const double v = hg_number_load(x, i);
    if (v != v) return UINT64_MAX;
    const uint64_t bits = hg_bits_f64(v == 0.0 ? 0.0 : v);
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

HG_INLINE uint32_t topk_narrow_key(const holo_tensor *x, int64_t i)
{
    const uint32_t sign = UINT32_C(1) << 31;
    if (!hg_dtype_is_float(x->dtype))
        return (uint32_t)((int64_t)hg_number_load(x, i) + (x->dtype == HOLO_U32 ? 0 : sign));
    const float v =
        x->dtype == HOLO_F32 ? ((const float *)x->data)[i] : (float)hg_number_load(x, i);
    if (v != v) return UINT32_MAX;
    const uint32_t bits = hg_bits_f32(v == 0.0F ? 0.0F : v);
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

static topk_wide topk_wide_entry(const topk_call *c, int64_t at, int64_t i)
{
    const uint64_t key = topk_wide_key(c->x, at);
    return (topk_wide){c->largest ? key : ~key, i};
}

HG_INLINE uint64_t topk_narrow_entry(const topk_call *c, int64_t at, int64_t i)
{
    const uint32_t key = topk_narrow_key(c->x, at);
    return (uint64_t)(c->largest ? key : ~key) << 32 | (uint32_t) ~(uint32_t)i;
}

static int64_t topk_index(const topk_call *c, const void *entries, int64_t i)
{
    if (c->is_wide) return ((const topk_wide *)entries)[i].index;
    return (int64_t)(uint32_t) ~(uint32_t)((const uint64_t *)entries)[i];
}

/* Element `at`, number i of its row, enters the best of that row. */
HG_INLINE void topk_enter(const topk_call *c, void *best, int64_t at, int64_t i)
{
    if (c->is_wide)
        topk_wide_enter(best, topk_wide_entry(c, at, i), i, c->k);
    else
        topk_narrow_enter(best, topk_narrow_entry(c, at, i), i, c->k);
}

/* Where the worst of the best of a row is, as a number in the row. */
static int64_t topk_worst(const topk_call *c, const void *best)
{
    return topk_index(c, best, c->k <= TOPK_LISTED ? c->k - 1 : 0);
}

/* Most elements are worse than the worst of the best, which is seen without keys. Comparisons are
 * such that NaN may be better. */
#define TOPK_WALK(T, suffix)                                                                       \
    HG_INLINE bool topk_better_##suffix(T x, T worst, const bool largest)                          \
    {                                                                                              \
        return !(largest ? x <= worst : x >= worst);                                               \
    }                                                                                              \
    /* Which of TOPK_SKIP elements may be better; step 0: all have the same worst. */              \
    HG_INLINE bool topk_mark_##suffix(const T *x, const T *worst, const int64_t step,              \
                                      uint8_t *mark, const bool largest)                           \
    {                                                                                              \
        uint64_t any[2];                                                                           \
        for (int64_t j = 0; j < TOPK_SKIP; j++)                                                    \
            mark[j] = topk_better_##suffix(x[j], worst[j * step], largest);                        \
        memcpy(any, mark, sizeof any);                                                             \
        return (any[0] | any[1]) != 0;                                                             \
    }                                                                                              \
    /* The same element of rows that lie side by side; or, with is_row, some elements of one row   \
     * at a time. */                                                                               \
    HG_INLINE void topk_walk_##suffix(const topk_call *c, int64_t first, int64_t rows, char *best, \
                                      const bool is_row, const bool largest)                       \
    {                                                                                              \
        const T *x = (const T *)c->x->data + first;                                                \
        const int64_t inner = is_row ? 1 : c->inner;                                               \
        const int64_t step = is_row ? 0 : c->k * topk_entry_bytes(c);                              \
        T worst[TOPK_SKIP] = {0};                                                                  \
        for (int64_t j = 0; j < rows; j++)                                                         \
            worst[j] = x[j + topk_worst(c, best + j * step) * inner];                              \
        for (int64_t i = c->k; i < c->n; i += is_row ? TOPK_SKIP : 1) {                            \
            const int64_t width = is_row ? hg_min(TOPK_SKIP, c->n - i) : rows;                     \
            const T *now = x + i * inner;                                                          \
            uint8_t mark[TOPK_SKIP];                                                               \
            if (width < TOPK_SKIP)                                                                 \
                memset(mark, 1, sizeof mark);                                                      \
            else if (!topk_mark_##suffix(now, worst, !is_row, mark, largest))                      \
                continue;                                                                          \
            for (int64_t j = 0; j < width; j++) {                                                  \
                T *own = &worst[is_row ? 0 : j];                                                   \
                if (!mark[j] || !topk_better_##suffix(now[j], *own, largest)) continue;            \
                topk_enter(c, best + j * step, first + j + i * inner, is_row ? i + j : i);         \
                *own = x[(is_row ? 0 : j) + topk_worst(c, best + j * step) * inner];               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void topk_rest_##suffix(const topk_call *c, int64_t first, int64_t rows, char *best)    \
    {                                                                                              \
        if (c->inner == 1 && c->largest)                                                           \
            topk_walk_##suffix(c, first, rows, best, true, true);                                  \
        else if (c->inner == 1)                                                                    \
            topk_walk_##suffix(c, first, rows, best, true, false);                                 \
        else if (c->largest)                                                                       \
            topk_walk_##suffix(c, first, rows, best, false, true);                                 \
        else                                                                                       \
            topk_walk_##suffix(c, first, rows, best, false, false);                                \
    }
TOPK_WALK(float, f32)
TOPK_WALK(int64_t, i64)
#undef TOPK_WALK

/* What comes behind the first k elements of rows. */
static void topk_rest(const topk_call *c, int64_t first, int64_t rows, char *best)
{
    if (hg_dtype_is(c->x->dtype, HOLO_F32)) {
        topk_rest_f32(c, first, rows, best);
    } else if (hg_dtype_is(c->x->dtype, HOLO_I64)) {
        topk_rest_i64(c, first, rows, best);
    } else {
        for (int64_t i = c->k; i < c->n; i++)
            for (int64_t j = 0; j < rows; j++)
                topk_enter(c, best + j * c->k * topk_entry_bytes(c), first + j + i * c->inner, i);
    }
}

/* The k best of each of `rows` rows that lie side by side from element `first` on, best first, one
 * list after the other. */
static void topk_rows(const topk_call *c, int64_t first, int64_t rows, char *best)
{
    const int64_t step = c->k * topk_entry_bytes(c);
    if (c->k == 0) return;
    for (int64_t i = 0; i < c->k; i++)
        for (int64_t j = 0; j < rows; j++)
            topk_enter(c, best + j * step, first + j + i * c->inner, i);
    topk_rest(c, first, rows, best);
    for (int64_t j = 0; j < rows; j++)
        if (c->is_wide)
            topk_wide_finish((topk_wide *)(void *)(best + j * step), c->k);
        else
            topk_narrow_finish((uint64_t *)(void *)(best + j * step), c->k);
}

/* All of a row in order, somewhere in `work`. */
static const void *topk_sorted(const hg_args *a, const topk_call *c, int64_t first, void *work)
{
    topk_wide *wide = work;
    uint64_t *narrow = work;
    for (int64_t i = 0; i < c->n; i++)
        if (c->is_wide)
            wide[i] = topk_wide_entry(c, first + i * c->inner, i);
        else
            narrow[i] = topk_narrow_entry(c, first + i * c->inner, i);
    if (c->is_wide) return topk_wide_sort(a, wide, wide + c->n, c->n);
    return topk_narrow_sort(a, narrow, narrow + c->n, c->n);
}

/* from, to: the first elements of a row of the input and of the outputs. */
static void topk_write(const hg_args *a, const topk_call *c, const void *best, int64_t from,
                       int64_t to)
{
    const uint32_t bits = hg_dtype_bits(c->x->dtype);
    for (int64_t i = 0; i < c->k; i++) {
        const int64_t index = topk_index(c, best, i);
        if (topk_has_out(a, 0))
            hg_elem_copy(a->out[0].data, to + i * c->inner, c->x->data, from + index * c->inner, 1,
                         bits);
        if (topk_has_out(a, 1)) ((int64_t *)a->out[1].data)[to + i * c->inner] = index;
    }
}

void hg_topk_run(const hg_args *a, hg_range r)
{
    const topk_call c = topk_call_of(a);
    const int64_t step = c.k * topk_entry_bytes(&c);
    for (int64_t u = r.begin, rows; u < r.end; u += rows) {
        const int64_t outer = u / c.inner, col = u % c.inner;
        rows = hg_min(topk_together(&c), hg_min(c.inner - col, r.end - u));
        const int64_t from = outer * c.n * c.inner + col, to = outer * c.k * c.inner + col;
        const char *best = r.scratch;
        if (c.sorts)
            best = topk_sorted(a, &c, from, r.scratch);
        else
            topk_rows(&c, from, rows, r.scratch);
        for (int64_t j = 0; j < rows; j++)
            topk_write(a, &c, best + j * step, from + j, to + j);
    }
}

const hg_kernel hg_kernels_topk[] = {
    {.name = "topk",
     .check = hg_topk_check,
     .units = hg_topk_units,
     .scratch = hg_topk_scratch,
     .run = hg_topk_run},
    {0},
};
