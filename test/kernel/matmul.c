/* matmul.c - matmul against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel hg_kernels_matmul_f64_avx2[];
#endif

typedef struct matmul_sizes {
    int64_t m, n, k;
    bool trans_a, trans_b;
    double alpha;
    int a_rank, b_rank;
    int64_t a_batch[4], b_batch[4]; /* rank - 2 entries */
} matmul_sizes;

static void matmul_make(gemm_call *c, const matmul_sizes *s, holo_dtype dtype)
{
    int64_t a[8], b[8], out[8];
    memset(c, 0, sizeof *c);
    const int rank = s->a_rank > s->b_rank ? s->a_rank : s->b_rank;
    for (int d = 0; d < s->a_rank - 2; d++)
        a[d] = s->a_batch[d];
    for (int d = 0; d < s->b_rank - 2; d++)
        b[d] = s->b_batch[d];
    for (int d = 0; d < rank - 2; d++) {
        const int i = d - (rank - s->a_rank), j = d - (rank - s->b_rank);
        const int64_t x = i < 0 ? 1 : a[i], y = j < 0 ? 1 : b[j];
        out[d] = x == 1 ? y : x;
    }
    a[s->a_rank - 2] = s->trans_a ? s->k : s->m;
    a[s->a_rank - 1] = s->trans_a ? s->m : s->k;
    b[s->b_rank - 2] = s->trans_b ? s->n : s->k;
    b[s->b_rank - 1] = s->trans_b ? s->k : s->n;
    out[rank - 2] = s->m;
    out[rank - 1] = s->n;
    c->in[0] = gemm_tensor(dtype, s->a_rank, a, 1);
    c->in[1] = gemm_tensor(dtype, s->b_rank, b, 2);
    c->out = gemm_tensor(dtype, rank, out, 3);
    c->param[0] = s->trans_a;
    c->param[1] = s->trans_b;
    gemm_set_f64(c, 2, s->alpha);
    gemm_connect(c, 2, 3);
}

/* Flat index of the matrix that batch `index` of out uses in t. */
static int64_t matmul_oracle_batch(const holo_tensor *t, const holo_tensor *out, int64_t index)
{
    int64_t at = 0, scale = 1;
    for (int d = out->rank - 3; d >= 0; d--) {
        const int i = d - (out->rank - t->rank);
        const int64_t coordinate = index % out->dim[d];
        index /= out->dim[d];
        if (i < 0) continue;
        if (t->dim[i] != 1) at += coordinate * scale;
        scale *= t->dim[i];
    }
    return at;
}

/* One product: element (i, j) of batch `index`. */
static double matmul_oracle(const gemm_call *c, const matmul_sizes *s, int64_t index, int64_t i,
                            int64_t j, double *sum_abs)
{
    const int64_t a = matmul_oracle_batch(&c->in[0], &c->out, index) * s->m * s->k;
    const int64_t b = matmul_oracle_batch(&c->in[1], &c->out, index) * s->k * s->n;
    double sum = 0;
    *sum_abs = 0;
    for (int64_t k = 0; k < s->k; k++) {
        const double x = gemm_get(&c->in[0], a + (s->trans_a ? k * s->m + i : i * s->k + k));
        const double y = gemm_get(&c->in[1], b + (s->trans_b ? j * s->k + k : k * s->n + j));
        sum += x * y;
        *sum_abs += fabs(x * y);
    }
    *sum_abs *= fabs(s->alpha);
    return sum * s->alpha;
}

static void matmul_compare(const char *what, const gemm_call *c, const matmul_sizes *s)
{
    const int64_t count = holo_tensor_count(&c->out);
    for (int64_t e = 0; e < count; e++) {
        double sum_abs;
        const double sum =
            matmul_oracle(c, s, e / (s->m * s->n), e / s->n % s->m, e % s->n, &sum_abs);
        if (!gemm_near(what, &c->out, e, s->k, sum, sum_abs)) return;
    }
}

static void matmul_try(const hg_kernel *k, const char *what, const matmul_sizes *s,
                       holo_dtype dtype)
{
    gemm_call c;
    matmul_make(&c, s, dtype);
    if (gemm_run(k, &c)) matmul_compare(what, &c, s);
    gemm_free(&c);
}

static const matmul_sizes matmul_table[] = {
    {3, 5, 7, 0, 0, 1, 2, 2, {0}, {0}},         {1, 1, 1, 0, 0, 1, 2, 2, {0}, {0}},
    {6, 16, 64, 0, 0, 1, 2, 2, {0}, {0}},       {7, 33, 65, 0, 1, 2.5, 2, 2, {0}, {0}},
    {13, 31, 17, 1, 0, 1, 2, 2, {0}, {0}},      {14, 40, 9, 1, 1, -0.5, 2, 2, {0}, {0}},
    {1, 100, 40, 0, 0, 1, 2, 2, {0}, {0}},      {1, 100, 40, 0, 1, 1, 2, 2, {0}, {0}},
    {1, 7, 300, 0, 0, 1, 2, 2, {0}, {0}},       {2, 50, 37, 1, 0, 1, 2, 2, {0}, {0}},
    {3, 50, 37, 0, 1, 1, 2, 2, {0}, {0}},       {4, 18, 37, 0, 1, 2, 2, 2, {0}, {0}},
    {5, 18, 37, 0, 0, 1, 2, 2, {0}, {0}},       {20, 20, 0, 0, 0, 1, 2, 2, {0}, {0}},
    {1, 20, 0, 0, 1, 1, 2, 2, {0}, {0}},        {0, 4, 3, 0, 0, 1, 2, 2, {0}, {0}},
    {4, 0, 3, 0, 0, 1, 2, 2, {0}, {0}},         {5, 6, 7, 0, 0, 1, 4, 4, {2, 3}, {2, 3}},
    {5, 6, 7, 0, 1, 1, 4, 4, {2, 1}, {1, 3}},   {5, 17, 7, 1, 0, 1, 5, 3, {2, 3, 2}, {2}},
    {5, 17, 7, 0, 0, 1, 3, 5, {2}, {3, 1, 2}},  {5, 17, 7, 0, 0, 1, 2, 4, {0}, {3, 2}},
    {1, 17, 33, 0, 1, 1, 4, 4, {2, 3}, {2, 3}}, {4, 17, 33, 0, 0, 1, 3, 3, {0}, {0}},
    {4, 17, 33, 0, 0, 1, 3, 2, {3}, {0}},       {300, 1, 30, 0, 0, 1, 2, 2, {0}, {0}},
    {9, 1, 64, 0, 1, 2, 2, 2, {0}, {0}},        {5, 1, 3, 0, 0, 1, 3, 3, {2}, {2}},
    {7, 1, 0, 0, 0, 1, 2, 2, {0}, {0}},         {11, 1, 20, 1, 0, 1, 2, 2, {0}, {0}},
};

static void matmul_matches_oracle(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16,
                                       HOLO_I32, HOLO_I64, HOLO_U32, HOLO_U64};
    for (size_t i = 0; i < HG_COUNT(matmul_table); i++)
        for (size_t t = 0; t < HG_COUNT(types); t++) {
            matmul_sizes s = matmul_table[i];
            if (t >= 4) s.alpha = 1;
            char what[80];
            snprintf(what, sizeof what, "case %zu %s", i, holo_dtype_text(types[t]));
            matmul_try(hg_kernels_matmul, what, &s, types[t]);
        }
}

/* k in order, multiply then add: the bits of a plain loop. */
static void matmul_exact_bits(void)
{
    const matmul_sizes s = {4, 37, 200, false, true, 1, 2, 2, {0}, {0}};
    gemm_call c;
    matmul_make(&c, &s, HOLO_F32);
    if (!gemm_run(hg_kernels_matmul, &c)) return;
    const float *a = c.in[0].data, *b = c.in[1].data, *out = c.out.data;
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            volatile float sum = 0;
            for (int64_t k = 0; k < s.k; k++) {
                volatile float product = a[i * s.k + k] * b[j * s.k + k];
                sum = sum + product;
            }
            if (!CHECK(sum == out[i * s.n + j])) return;
        }
    gemm_free(&c);
}

static void matmul_wraps_integers(void)
{
    const matmul_sizes s = {1, 1, 2, false, false, 1, 2, 2, {0}, {0}};
    gemm_call c;
    matmul_make(&c, &s, HOLO_I32);
    int32_t *a = c.in[0].data, *b = c.in[1].data;
    a[0] = a[1] = b[0] = b[1] = INT32_MAX;
    if (gemm_run(hg_kernels_matmul, &c)) CHECK_EQ_INT(*(int32_t *)c.out.data, 2);
    gemm_free(&c);
}

/* Bias by column, mask by batch and row, residual of full size; then max with 0. */
static void matmul_epilogue_on(const hg_kernel *k, matmul_sizes s, holo_dtype dtype)
{
    gemm_call c;
    gemm_code code;
    matmul_make(&c, &s, dtype);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){s.n}, 4);
    c.in[3] = gemm_tensor(HOLO_F16, 4, (int64_t[]){c.out.dim[0], 1, s.m, 1}, 5);
    c.in[4] = gemm_tensor(dtype, 4, c.out.dim, 6);
    gemm_code_sum(&code, 3);
    gemm_connect(&c, 5, 3);
    c.args.code = &code.code;
    if (!gemm_run(k, &c)) return;
    const int64_t count = holo_tensor_count(&c.out), matrix = s.m * s.n;
    for (int64_t e = 0; e < count; e++) {
        double sum_abs;
        const int64_t batch = e / matrix, i = e / s.n % s.m, j = e % s.n;
        double sum = matmul_oracle(&c, &s, batch, i, j, &sum_abs);
        const double extra[3] = {gemm_get(&c.in[2], j),
                                 gemm_get(&c.in[3], batch / c.out.dim[1] * s.m + i),
                                 gemm_get(&c.in[4], e)};
        for (int x = 0; x < 3; x++) {
            sum += extra[x];
            sum_abs += fabs(extra[x]);
        }
        if (!gemm_near("epilogue", &c.out, e, s.k, sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

/* One column with what is done to it on the way: a bias, a residual, a Relu. */
static void matmul_column_on(const hg_kernel *k, int64_t rows)
{
    const matmul_sizes s = {rows, 1, 19, false, false, 1, 2, 2, {0}, {0}};
    gemm_call c;
    gemm_code code;
    matmul_make(&c, &s, HOLO_F32);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){1}, 4);
    c.in[3] = gemm_tensor(HOLO_F32, 2, c.out.dim, 6);
    gemm_code_sum(&code, 2);
    gemm_connect(&c, 4, 3);
    c.args.code = &code.code;
    if (!gemm_run(k, &c)) return;
    for (int64_t i = 0; i < rows; i++) {
        double sum_abs, sum = matmul_oracle(&c, &s, 0, i, 0, &sum_abs);
        sum += gemm_get(&c.in[2], 0) + gemm_get(&c.in[3], i);
        sum_abs += fabs(gemm_get(&c.in[2], 0)) + fabs(gemm_get(&c.in[3], i));
        if (!gemm_near("column", &c.out, i, s.k, sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static const matmul_sizes matmul_epilogue_sizes[] = {
    {150, 1, 23, false, false, 1, 4, 4, {2, 3}, {2, 3}},
    {19, 45, 23, false, false, 1, 4, 4, {2, 3}, {2, 3}},
    {1, 45, 23, false, true, 1, 4, 4, {2, 3}, {2, 1}},
    {130, 20, 23, true, false, 1, 4, 4, {2, 2}, {2, 1}},
};

static void matmul_epilogue(void)
{
    matmul_column_on(hg_kernels_matmul, 9);
    for (size_t i = 0; i < HG_COUNT(matmul_epilogue_sizes); i++) {
        matmul_epilogue_on(hg_kernels_matmul, matmul_epilogue_sizes[i], HOLO_F32);
        matmul_epilogue_on(hg_kernels_matmul, matmul_epilogue_sizes[i], HOLO_F16);
    }
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double matmul_space[64];

static void matmul_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){matmul_space, {2, 3, 4}, 3, HOLO_F32};
    c->in[1] = (holo_tensor){matmul_space, {2, 4, 5}, 3, HOLO_F32};
    c->out = (holo_tensor){matmul_space, {2, 3, 5}, 3, HOLO_F32};
    gemm_set_f64(c, 2, 1);
    gemm_connect(c, 2, 3);
}

#define MATMUL_SPOIL(name, ...)                                                                    \
    static void matmul_spoil_##name(gemm_call *c)                                                  \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
MATMUL_SPOIL(inputs, c->args.n_in = 1)
MATMUL_SPOIL(outputs, c->args.n_out = 0)
MATMUL_SPOIL(params, c->args.n_param = 2)
MATMUL_SPOIL(type_a, c->in[0].dtype = HOLO_I8)
MATMUL_SPOIL(type_b, c->in[1].dtype = HOLO_U8)
MATMUL_SPOIL(types, c->in[1].dtype = HOLO_F64)
MATMUL_SPOIL(type_out, c->out.dtype = HOLO_F64)
MATMUL_SPOIL(out_string, c->out.dtype = HOLO_STRING)
MATMUL_SPOIL(rank_a, c->in[0].rank = 1)
MATMUL_SPOIL(rank_b, c->in[1].rank = 1)
MATMUL_SPOIL(rank_out, c->out.rank = 2)
MATMUL_SPOIL(trans_a, c->param[0] = 2)
MATMUL_SPOIL(trans_b, c->param[1] = -1)
MATMUL_SPOIL(alpha, c->in[0].dtype = c->in[1].dtype = c->out.dtype = HOLO_I32;
             gemm_set_f64(c, 2, 2))
MATMUL_SPOIL(batch, c->in[1].dim[0] = 3)
MATMUL_SPOIL(batch_out, c->out.dim[0] = 3)
MATMUL_SPOIL(k, c->in[1].dim[1] = 3)
MATMUL_SPOIL(m, c->out.dim[1] = 4)
MATMUL_SPOIL(n, c->out.dim[2] = 6)
MATMUL_SPOIL(extra, c->args.n_in = 3)

static const gemm_bad matmul_bad[] = {
    {"inputs, expected at least 2", matmul_spoil_inputs, HOLO_E_FORMAT},
    {"outputs", matmul_spoil_outputs, HOLO_E_FORMAT},
    {"parameters", matmul_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", matmul_spoil_type_a, HOLO_E_TYPE},
    {"input 1 has type", matmul_spoil_type_b, HOLO_E_TYPE},
    {"A and B", matmul_spoil_types, HOLO_E_TYPE},
    {"output has type", matmul_spoil_type_out, HOLO_E_TYPE},
    {"output 0 has type", matmul_spoil_out_string, HOLO_E_TYPE},
    {"A has rank", matmul_spoil_rank_a, HOLO_E_SHAPE},
    {"B has rank", matmul_spoil_rank_b, HOLO_E_SHAPE},
    {"output has rank", matmul_spoil_rank_out, HOLO_E_SHAPE},
    {"trans_a", matmul_spoil_trans_a, HOLO_E_ARG},
    {"trans_b", matmul_spoil_trans_b, HOLO_E_ARG},
    {"alpha", matmul_spoil_alpha, HOLO_E_ARG},
    {"batch dimension 0", matmul_spoil_batch, HOLO_E_SHAPE},
    {"output dimension 0", matmul_spoil_batch_out, HOLO_E_SHAPE},
    {"A has 4 columns, B has 3", matmul_spoil_k, HOLO_E_SHAPE},
    {"output has 4 rows", matmul_spoil_m, HOLO_E_SHAPE},
    {"output has 6 columns", matmul_spoil_n, HOLO_E_SHAPE},
    {"inputs, expected at most 2", matmul_spoil_extra, HOLO_E_FORMAT},
};

static void matmul_refuses(void)
{
    gemm_refuse(hg_kernels_matmul, matmul_good, matmul_bad, HG_COUNT(matmul_bad));
}

/* Rules of the epilogue, reached through matmul. */
static gemm_code matmul_code;

static void matmul_good_code(gemm_call *c)
{
    matmul_good(c);
    gemm_code_sum(&matmul_code, 1);
    c->in[2] = (holo_tensor){matmul_space, {3, 1}, 2, HOLO_F32};
    c->args.code = &matmul_code.code;
    c->args.n_in = 3;
}

MATMUL_SPOIL(code_none, (void)c; matmul_code.code.n_in = 0)
MATMUL_SPOIL(code_results, (void)c; matmul_code.code.n_out = 2)
MATMUL_SPOIL(code_inputs, c->args.n_in = 2)
MATMUL_SPOIL(code_absent, c->in[2].dtype = HOLO_NONE)
MATMUL_SPOIL(code_type, c->in[2].dtype = HOLO_STRING)
MATMUL_SPOIL(code_shape, c->in[2].dim[0] = 2)
MATMUL_SPOIL(code_load, c->in[2].dtype = HOLO_F64)
MATMUL_SPOIL(code_narrow, c->out.dtype = HOLO_I4)
#undef MATMUL_SPOIL

static const gemm_bad matmul_bad_code[] = {
    {"epilogue has 0 operands", matmul_spoil_code_none, HOLO_E_FORMAT},
    {"epilogue has 2 results", matmul_spoil_code_results, HOLO_E_FORMAT},
    {"0 inputs for the epilogue", matmul_spoil_code_inputs, HOLO_E_FORMAT},
    {"input 2 is missing", matmul_spoil_code_absent, HOLO_E_FORMAT},
    {"input 2 has type", matmul_spoil_code_type, HOLO_E_TYPE},
    {"epilogue operand", matmul_spoil_code_shape, HOLO_E_SHAPE},
    {"", matmul_spoil_code_load, HOLO_E_TYPE},
    {"output 0 has type", matmul_spoil_code_narrow, HOLO_E_TYPE},
};

static void matmul_refuses_code(void)
{
    gemm_refuse(hg_kernels_matmul, matmul_good_code, matmul_bad_code, HG_COUNT(matmul_bad_code));
}

static void matmul_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    matmul_good(&c);
    hg_cost cost = {0};
    hg_kernels_matmul->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 2 * 3 * 4 * 5, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static void matmul_tuned_on(const hg_kernel *k, holo_dtype dtype)
{
    for (size_t i = 0; i < HG_COUNT(matmul_table); i++) {
        char what[40];
        snprintf(what, sizeof what, "tuned case %zu", i);
        matmul_try(k, what, &matmul_table[i], dtype);
    }
    uint32_t seed = 7;
    for (int i = 0; i < 200; i++) {
        const matmul_sizes s = {gemm_size(&seed, 1, i % 5 == 0 ? 200 : 20),
                                gemm_size(&seed, 1, 70),
                                gemm_size(&seed, 1, i % 7 == 0 ? 900 : 90),
                                gemm_random(&seed) & 1,
                                gemm_random(&seed) & 1,
                                i % 3 == 0 ? 0.125 : 1,
                                3,
                                3,
                                {gemm_size(&seed, 1, 2)},
                                {1}};
        char what[80];
        snprintf(what, sizeof what, "tuned random %d: %lldx%lldx%lld %d %d", i, (long long)s.m,
                 (long long)s.n, (long long)s.k, s.trans_a, s.trans_b);
        matmul_try(k, what, &s, dtype);
    }
}

static void matmul_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    matmul_tuned_on(TUNED(matmul), HOLO_F32);
    for (size_t i = 0; i < HG_COUNT(matmul_epilogue_sizes); i++)
        matmul_epilogue_on(TUNED(matmul), matmul_epilogue_sizes[i], HOLO_F32);
    for (int64_t rows = 1; rows < 400; rows = rows * 2 + 1)
        matmul_column_on(TUNED(matmul), rows);
#if defined(__x86_64__)
    matmul_tuned_on(hg_kernels_matmul_f64_avx2, HOLO_F64);
#endif
}

static void matmul_tuned_refuses(void)
{
    gemm_refuse(TUNED(matmul), matmul_good, matmul_bad, HG_COUNT(matmul_bad));
    gemm_call c;
    memset(&c, 0, sizeof c);
    matmul_good(&c);
#if defined(__x86_64__)
    CHECK_STATUS(hg_kernels_matmul_f64_avx2->check(&c.args, NULL), HOLO_E_TYPE);
#endif
    c.in[0].dtype = c.in[1].dtype = c.out.dtype = HOLO_F64;
    CHECK_STATUS(TUNED(matmul)->check(&c.args, NULL), HOLO_E_TYPE);
}
#endif

const hg_test_case hg_tests_kernel_matmul[] = {
    {"matches_oracle", matmul_matches_oracle},
    {"exact_bits", matmul_exact_bits},
    {"wraps_integers", matmul_wraps_integers},
    {"epilogue", matmul_epilogue},
    {"refuses", matmul_refuses},
    {"refuses_code", matmul_refuses_code},
    {"cost", matmul_cost_counts},
#if defined(TUNED)
    {"tuned", matmul_tuned},
    {"tuned_refuses", matmul_tuned_refuses},
#endif
    {0},
};
