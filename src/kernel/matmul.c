/* matmul.c - matmul and, for float64, matmul.f64: C = alpha * A B with numpy broadcasting of batch
 * dimensions.
 *
 *   in[0]  A [batch..., M, K], or [batch..., K, M] when trans_a
 *   in[1]  B [batch..., K, N], or [batch..., N, K] when trans_b
 *   in[2+] operands of the epilogue
 *   param  trans_a, trans_b, alpha (f64 bits; 1 for integers)
 *   out[0] C [batch..., M, N]
 *
 * Exact profile: per output, k in order, multiply then add, never fused, starting from +0; then one
 * multiplication by alpha unless alpha is 1. f16 and bf16 accumulate in f32 and round once;
 * integers wrap. K = 0 gives zeros. */
#include "kernel/matmul.h"

#include "base/half.h"
#include "kernel/epilogue.h"

enum { MATMUL_FIRST_EXTRA = 2, MATMUL_COLS = 32 };

#define MATMUL_TYPES                                                                               \
    (HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_U32) |      \
     HG_TYPE_BIT(HOLO_U64))

/* Type of the result before it is rounded to the output: what the epilogue sees. */
static holo_dtype matmul_result_type(holo_dtype dtype)
{
    return dtype == HOLO_F16 || dtype == HOLO_BF16 ? HOLO_F32 : dtype;
}

/* Dim d of the batch dims of t, counted in out's dims. */
static int64_t matmul_batch_dim(const holo_tensor *t, const holo_tensor *out, int d)
{
    int i = d - (out->rank - t->rank);
    return i < 0 ? 1 : t->dim[i];
}

static holo_status matmul_check_batch(const hg_args *a, holo_error *e)
{
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    const int rank = x->rank > y->rank ? x->rank : y->rank;
    HG_REQUIRE(e, out->rank == rank, HOLO_E_SHAPE, "output has rank %d, expected %d", out->rank,
               rank);
    for (int d = 0; d < rank - 2; d++) {
        int64_t p = matmul_batch_dim(x, out, d), q = matmul_batch_dim(y, out, d);
        HG_REQUIRE(e, p == q || p == 1 || q == 1, HOLO_E_SHAPE,
                   "batch dimension %d is %lld in A and %lld in B", d, (long long)p, (long long)q);
        int64_t expected = p == 1 ? q : p;
        HG_REQUIRE(e, out->dim[d] == expected, HOLO_E_SHAPE,
                   "output dimension %d is %lld, expected %lld", d, (long long)out->dim[d],
                   (long long)expected);
    }
    return HOLO_OK;
}

holo_status hg_matmul_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 3));
    HG_TRY(hg_check_in_type(a, e, 0, MATMUL_TYPES));
    HG_TRY(hg_check_in_type(a, e, 1, MATMUL_TYPES));
    HG_TRY(hg_check_same_type(&a->in[0], &a->in[1], e, "A and B"));
    HG_TRY(hg_check_out_type(a, e, 0, HG_EPILOGUE_TYPES));
    HG_TRY(hg_check_rank(&a->in[0], e, "A", 2, HG_MAX_RANK));
    HG_TRY(hg_check_rank(&a->in[1], e, "B", 2, HG_MAX_RANK));
    HG_TRY(hg_check_param(a, e, 0, "trans_a", 0, 1));
    HG_TRY(hg_check_param(a, e, 1, "trans_b", 0, 1));
    HG_REQUIRE(e, hg_dtype_in(a->in[0].dtype, HG_TYPES_FLOAT) || hg_param_f64(a, 2) == 1,
               HOLO_E_ARG, "alpha is %g, expected 1 for integers", hg_param_f64(a, 2));
    HG_TRY(matmul_check_batch(a, e));
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    const int ta = (int)a->param[0], tb = (int)a->param[1];
    const int64_t ka = x->dim[x->rank - 1 - ta], kb = y->dim[y->rank - 2 + tb];
    HG_REQUIRE(e, ka == kb, HOLO_E_SHAPE, "A has %lld columns, B has %lld rows", (long long)ka,
               (long long)kb);
    const int64_t m = x->dim[x->rank - 2 + ta], n = y->dim[y->rank - 1 - tb];
    HG_REQUIRE(e, out->dim[out->rank - 2] == m, HOLO_E_SHAPE, "output has %lld rows, expected %lld",
               (long long)out->dim[out->rank - 2], (long long)m);
    HG_REQUIRE(e, out->dim[out->rank - 1] == n, HOLO_E_SHAPE,
               "output has %lld columns, expected %lld", (long long)out->dim[out->rank - 1],
               (long long)n);
    return hg_epilogue_check(a, e, MATMUL_FIRST_EXTRA, 1, matmul_result_type(x->dtype));
}

hg_matmul_shape hg_matmul_shape_of(const hg_args *a)
{
    const holo_tensor *x = &a->in[0], *out = &a->out[0];
    const bool ta = a->param[0] != 0, tb = a->param[1] != 0;
    hg_matmul_shape s;
    s.batch = hg_dims_product(out, 0, out->rank - 2);
    s.m = out->dim[out->rank - 2];
    s.n = out->dim[out->rank - 1];
    s.k = x->dim[x->rank - (ta ? 2 : 1)];
    s.a_row = ta ? 1 : s.k;
    s.a_k = ta ? s.m : 1;
    s.b_k = tb ? 1 : s.n;
    s.b_col = tb ? s.k : 1;
    return s;
}

int64_t hg_matmul_batch_offset(const holo_tensor *t, const holo_tensor *out, int64_t batch)
{
    int64_t offset = 0, stride = t->dim[t->rank - 2] * t->dim[t->rank - 1];
    for (int d = out->rank - 3; d >= out->rank - t->rank; d--) {
        int64_t size = matmul_batch_dim(t, out, d);
        if (size != 1) offset += batch % out->dim[d] * stride;
        batch /= out->dim[d];
        stride *= size;
    }
    return offset;
}

void hg_matmul_cost(const hg_args *a, hg_cost *cost)
{
    hg_matmul_shape s = hg_matmul_shape_of(a);
    cost->flops = 2.0 * (double)s.batch * (double)s.m * (double)s.n * (double)s.k;
}

static int64_t matmul_units(const hg_args *a)
{
    hg_matmul_shape s = hg_matmul_shape_of(a);
    return s.n == 0 ? 0 : s.batch * s.m;
}

static size_t matmul_row_bytes(const hg_args *a)
{
    return hg_align_up((size_t)hg_matmul_shape_of(a).n * 8, HG_ALIGN);
}

static size_t matmul_scratch(const hg_args *a)
{
    return matmul_row_bytes(a) + hg_epilogue_scratch(a);
}

/* One output row, accumulators of type ACC in blocks of columns that stay in registers or L1. */
#define MATMUL_ROW(T, ACC, LOAD, suffix)                                                           \
    static void matmul_row_##suffix(const hg_matmul_shape *s, const void *va, const void *vb,      \
                                    void *vc, double alpha)                                        \
    {                                                                                              \
        const T *a = va;                                                                           \
        ACC *c = vc;                                                                               \
        for (int64_t j0 = 0; j0 < s->n; j0 += MATMUL_COLS) {                                       \
            const int64_t cols = hg_min(MATMUL_COLS, s->n - j0);                                   \
            const T *b = (const T *)vb + j0 * s->b_col;                                            \
            ACC sum[MATMUL_COLS] = {0};                                                            \
            const bool is_whole = cols == MATMUL_COLS && s->b_col == 1;                            \
            for (int64_t k = 0; k < s->k; k++) {                                                   \
                const ACC x = LOAD(a[k * s->a_k]);                                                 \
                const T *row = b + k * s->b_k;                                                     \
                for (int64_t j = 0; is_whole && j < MATMUL_COLS; j++) /* vectors */                \
                    sum[j] += x * LOAD(row[j]);                                                    \
                for (int64_t j = 0; !is_whole && j < cols; j++)                                    \
                    sum[j] += x * LOAD(row[j * s->b_col]);                                         \
            }                                                                                      \
            for (int64_t j = 0; j < cols; j++)                                                     \
                c[j0 + j] = alpha == 1 ? sum[j] : sum[j] * (ACC)alpha;                             \
        }                                                                                          \
    }

#define MATMUL_SAME(x) (x)
MATMUL_ROW(float, float, MATMUL_SAME, f32)
MATMUL_ROW(double, double, MATMUL_SAME, f64)
MATMUL_ROW(uint32_t, uint32_t, MATMUL_SAME, i32)
MATMUL_ROW(uint64_t, uint64_t, MATMUL_SAME, i64)
MATMUL_ROW(uint16_t, float, hg_f16_to_f32, f16)
MATMUL_ROW(uint16_t, float, hg_bf16_to_f32, bf16)
#undef MATMUL_SAME
#undef MATMUL_ROW

static void matmul_row(holo_dtype dtype, const hg_matmul_shape *s, const void *a, const void *b,
                       void *c, double alpha)
{
    if (dtype == HOLO_F32) matmul_row_f32(s, a, b, c, alpha);
    if (hg_dtype_is(dtype, HOLO_F64)) matmul_row_f64(s, a, b, c, alpha);
    if (hg_dtype_is(dtype, HOLO_F16)) matmul_row_f16(s, a, b, c, alpha);
    if (hg_dtype_is(dtype, HOLO_BF16)) matmul_row_bf16(s, a, b, c, alpha);
    if (hg_dtype_is(dtype, HOLO_I32) || hg_dtype_is(dtype, HOLO_U32))
        matmul_row_i32(s, a, b, c, alpha);
    if (hg_dtype_is(dtype, HOLO_I64) || hg_dtype_is(dtype, HOLO_U64))
        matmul_row_i64(s, a, b, c, alpha);
}

static void matmul_store_row(holo_dtype dtype, const void *row, int64_t n, void *out)
{
    if (dtype == HOLO_F16 || dtype == HOLO_BF16) {
        const float *x = row;
        uint16_t *y = out;
        for (int64_t j = 0; j < n; j++)
            y[j] = dtype == HOLO_F16 ? hg_f32_to_f16(x[j]) : hg_f32_to_bf16(x[j]);
        return;
    }
    memcpy(out, row, (size_t)n * (hg_dtype_bits(dtype) / 8));
}

static void matmul_run(const hg_args *a, hg_range r)
{
    const hg_matmul_shape s = hg_matmul_shape_of(a);
    const holo_tensor *x = &a->in[0], *y = &a->in[1], *out = &a->out[0];
    const size_t size = hg_dtype_bits(x->dtype) / 8;
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, MATMUL_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + matmul_row_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t batch = u / s.m, i = u % s.m;
        const int64_t at = hg_matmul_batch_offset(x, out, batch) + i * s.a_row;
        const int64_t bt = hg_matmul_batch_offset(y, out, batch);
        matmul_row(x->dtype, &s, (const char *)x->data + (size_t)at * size,
                   (const char *)y->data + (size_t)bt * size, r.scratch, hg_param_f64(a, 2));
        if (a->code == NULL) {
            matmul_store_row(out->dtype, r.scratch, s.n,
                             (char *)out->data + (size_t)(u * s.n) * size);
            continue;
        }
        const hg_epilogue_tile tile = {.data = r.scratch,
                                       .ld = s.n,
                                       .dtype = matmul_result_type(x->dtype),
                                       .row = u,
                                       .rows = 1,
                                       .col = 0,
                                       .cols = s.n};
        hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_matmul[] = {
    {.name = "matmul",
     .check = hg_matmul_check,
     .units = matmul_units,
     .scratch = matmul_scratch,
     .cost = hg_matmul_cost,
     .run = matmul_run},
    {.name = "matmul.f64", /* the same; programs without such products need no code for them */
     .check = hg_matmul_check,
     .units = matmul_units,
     .scratch = matmul_scratch,
     .cost = hg_matmul_cost,
     .run = matmul_run},
    {0},
};
