/* matmul_p16.c - matmul.p16 against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_matmul_p16[];
#if defined(TUNED)
extern const hg_kernel TUNED(matmul_p16)[];
#endif

typedef struct p16_sizes {
    int64_t m, n, k;
    double alpha;
} p16_sizes;

static void p16_make(gemm_call *c, const p16_sizes *s, holo_dtype dtype)
{
    const int64_t panels = (s->n + 15) / 16;
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, 3, (int64_t[]){1, s->m, s->k}, 1);
    c->in[1] = gemm_tensor(dtype, 3, (int64_t[]){panels, s->k, 16}, 2);
    c->out = gemm_tensor(HOLO_F32, 3, (int64_t[]){1, s->m, s->n}, 3);
    gemm_set_f64(c, 0, s->alpha);
    gemm_connect(c, 2, 1);
}

static double p16_oracle(const gemm_call *c, const p16_sizes *s, int64_t i, int64_t j,
                         double *sum_abs)
{
    double sum = 0;
    *sum_abs = 0;
    for (int64_t k = 0; k < s->k; k++) {
        const double x = gemm_get(&c->in[0], i * s->k + k);
        const double y = gemm_get(&c->in[1], (j / 16 * s->k + k) * 16 + j % 16);
        sum += x * y;
        *sum_abs += fabs(x * y);
    }
    *sum_abs *= fabs(s->alpha);
    return sum * s->alpha;
}

static void p16_try(const hg_kernel *k, const char *what, const p16_sizes *s, holo_dtype dtype)
{
    gemm_call c;
    p16_make(&c, s, dtype);
    const bool ran = gemm_run(k, &c);
    for (int64_t e = 0; ran && e < s->m * s->n; e++) {
        double sum_abs;
        const double sum = p16_oracle(&c, s, e / s->n, e % s->n, &sum_abs);
        if (!gemm_near(what, &c.out, e, s->k, sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static const p16_sizes p16_table[] = {
    {1, 1, 1, 1},      {1, 16, 8, 1},   {1, 17, 9, 2},    {1, 200, 31, 1},  {2, 64, 33, 1},
    {2, 100, 7, 1},    {3, 31, 12, 1},  {3, 96, 40, 0.5}, {4, 50, 21, 1},   {5, 15, 21, 1},
    {6, 48, 64, 1},    {7, 33, 5, 1},   {8, 16, 100, -3}, {13, 40, 19, 1},  {25, 130, 11, 1},
    {96, 64, 40, 1},   {97, 70, 40, 1}, {200, 33, 13, 1}, {30, 20, 400, 1}, {11, 36, 900, 2},
    {100, 97, 385, 1}, {4, 20, 0, 1},   {2, 20, 0, 1},    {0, 5, 6, 1},     {5, 0, 6, 1},
};

static void p16_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(p16_table); i++) {
        char what[40];
        snprintf(what, sizeof what, "case %zu", i);
        p16_try(k, what, &p16_table[i], HOLO_F32);
        p16_try(k, what, &p16_table[i], HOLO_F16);
    }
}

static void p16_matches_oracle(void)
{
    p16_table_on(hg_kernels_matmul_p16);
}

/* Same bits as the plain loop: k in order, multiply then add. */
static void p16_exact_bits(void)
{
    const p16_sizes s = {3, 21, 150, 1};
    gemm_call c;
    p16_make(&c, &s, HOLO_F32);
    if (!gemm_run(hg_kernels_matmul_p16, &c)) return;
    const float *a = c.in[0].data, *b = c.in[1].data, *out = c.out.data;
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            volatile float sum = 0;
            for (int64_t k = 0; k < s.k; k++) {
                volatile float product = a[i * s.k + k] * b[(j / 16 * s.k + k) * 16 + j % 16];
                sum = sum + product;
            }
            if (!CHECK(sum == out[i * s.n + j])) return;
        }
    gemm_free(&c);
}

/* Bias by column, a value for each of a repeated block of rows, a residual; the output may be f16.
 */
static void p16_epilogue_on(const hg_kernel *k, int64_t m, int64_t n, holo_dtype out)
{
    const p16_sizes s = {3 * m, n, 29, 1};
    gemm_call c;
    gemm_code code;
    memset(&c, 0, sizeof c);
    c.in[0] = gemm_tensor(HOLO_F32, 3, (int64_t[]){3, m, s.k}, 1);
    c.in[1] = gemm_tensor(HOLO_F32, 3, (int64_t[]){(n + 15) / 16, s.k, 16}, 2);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){n}, 3);
    c.in[3] = gemm_tensor(HOLO_F32, 2, (int64_t[]){m, 1}, 4);
    c.in[4] = gemm_tensor(HOLO_F16, 3, (int64_t[]){3, m, n}, 5);
    c.out = gemm_tensor(out, 3, (int64_t[]){3, m, n}, 6);
    gemm_set_f64(&c, 0, 1);
    gemm_connect(&c, 5, 1);
    gemm_code_sum(&code, 3);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &c);
    for (int64_t e = 0; ran && e < s.m * s.n; e++) {
        double sum_abs;
        double sum = p16_oracle(&c, &s, e / n, e % n, &sum_abs);
        const double extra[3] = {gemm_get(&c.in[2], e % n), gemm_get(&c.in[3], e / n % m),
                                 gemm_get(&c.in[4], e)};
        for (int x = 0; x < 3; x++) {
            sum += extra[x];
            sum_abs += fabs(extra[x]);
        }
        if (!gemm_near("epilogue", &c.out, e, s.k, sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static void p16_epilogue_cases(const hg_kernel *k)
{
    p16_epilogue_on(k, 1, 40, HOLO_F32);
    p16_epilogue_on(k, 7, 40, HOLO_F32);
    p16_epilogue_on(k, 50, 77, HOLO_F32);
    p16_epilogue_on(k, 1, 40, HOLO_F16);
    p16_epilogue_on(k, 50, 77, HOLO_F16);
}

static void p16_epilogue(void)
{
    p16_epilogue_cases(hg_kernels_matmul_p16);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double p16_space[64];

static void p16_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){p16_space, {2, 3, 4}, 3, HOLO_F32};
    c->in[1] = (holo_tensor){p16_space, {2, 4, 16}, 3, HOLO_F32};
    c->out = (holo_tensor){p16_space, {2, 3, 20}, 3, HOLO_F32};
    gemm_set_f64(c, 0, 1);
    gemm_connect(c, 2, 1);
}

#define P16_SPOIL(name, ...)                                                                       \
    static void p16_spoil_##name(gemm_call *c)                                                     \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
P16_SPOIL(inputs, c->args.n_in = 1)
P16_SPOIL(params, c->args.n_param = 0)
P16_SPOIL(type_a, c->in[0].dtype = HOLO_F16)
P16_SPOIL(type_b, c->in[1].dtype = HOLO_BF16)
P16_SPOIL(type_out, c->out.dtype = HOLO_F16)
P16_SPOIL(out_string, c->out.dtype = HOLO_STRING)
P16_SPOIL(rank_a, c->in[0].rank = 0)
P16_SPOIL(rank_b, c->in[1].rank = 2)
P16_SPOIL(rank_out, c->out.rank = 2)
P16_SPOIL(rows, c->out.dim[0] = 3)
P16_SPOIL(k, c->in[1].dim[1] = 5)
P16_SPOIL(panels, c->in[1].dim[0] = 1)
P16_SPOIL(wide, c->out.dim[2] = 33)
P16_SPOIL(panel, c->in[1].dim[2] = 8)
P16_SPOIL(extra, c->args.n_in = 3)
#undef P16_SPOIL

static const gemm_bad p16_bad[] = {
    {"inputs, expected at least 2", p16_spoil_inputs, HOLO_E_FORMAT},
    {"parameters", p16_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", p16_spoil_type_a, HOLO_E_TYPE},
    {"input 1 has type", p16_spoil_type_b, HOLO_E_TYPE},
    {"output has type", p16_spoil_type_out, HOLO_E_TYPE},
    {"output 0 has type", p16_spoil_out_string, HOLO_E_TYPE},
    {"A has rank", p16_spoil_rank_a, HOLO_E_SHAPE},
    {"packed B has rank", p16_spoil_rank_b, HOLO_E_SHAPE},
    {"output has rank", p16_spoil_rank_out, HOLO_E_SHAPE},
    {"output dimension 0 is 3", p16_spoil_rows, HOLO_E_SHAPE},
    {"packed B has 5 rows", p16_spoil_k, HOLO_E_SHAPE},
    {"packed B has 1 panels", p16_spoil_panels, HOLO_E_SHAPE},
    {"packed B has 2 panels, expected 3", p16_spoil_wide, HOLO_E_SHAPE},
    {"panels of 8", p16_spoil_panel, HOLO_E_SHAPE},
    {"inputs, expected at most 2", p16_spoil_extra, HOLO_E_FORMAT},
};

static void p16_refuses(void)
{
    gemm_refuse(hg_kernels_matmul_p16, p16_good, p16_bad, HG_COUNT(p16_bad));
}

static void p16_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    p16_good(&c);
    hg_cost cost = {0};
    hg_kernels_matmul_p16->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 6 * 4 * 20, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static void p16_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    p16_table_on(TUNED(matmul_p16));
    p16_epilogue_cases(TUNED(matmul_p16));
    uint32_t seed = 11;
    for (int i = 0; i < 200; i++) {
        const p16_sizes s = {gemm_size(&seed, 1, i % 4 == 0 ? 250 : 20), gemm_size(&seed, 1, 120),
                             gemm_size(&seed, 1, i % 5 == 0 ? 1000 : 60), 1};
        char what[80];
        snprintf(what, sizeof what, "random %d: %lldx%lldx%lld", i, (long long)s.m, (long long)s.n,
                 (long long)s.k);
        p16_try(TUNED(matmul_p16), what, &s, i % 2 ? HOLO_F16 : HOLO_F32);
    }
}

/* Every rest of rows beside every rest of columns, with one block of k, a short one and two. */
static void p16_tuned_rests(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t depths[] = {1, 19, 390};
    for (int64_t m = 4; m <= 21; m++)
        for (int64_t n = 1; n <= 33; n++)
            for (size_t i = 0; i < HG_COUNT(depths); i++) {
                const p16_sizes s = {m, n, depths[i], n % 3 == 0 ? 2 : 1};
                char what[80];
                snprintf(what, sizeof what, "%lldx%lldx%lld", (long long)m, (long long)n,
                         (long long)s.k);
                p16_try(TUNED(matmul_p16), what, &s, m % 2 ? HOLO_F16 : HOLO_F32);
            }
    for (int64_t m = 2; m <= 7; m++)
        for (int64_t n = 1; n <= 24; n++)
            p16_epilogue_on(TUNED(matmul_p16), m, n, HOLO_F32);
}

/* A row gives the same bits whatever rows come with it. */
static void p16_tuned_rows_alone(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    const p16_sizes all = {23, 37, 500, 1};
    gemm_call c;
    p16_make(&c, &all, HOLO_F32);
    if (!gemm_run(TUNED(matmul_p16), &c)) return;
    for (int64_t m = 1; m <= all.m; m++) {
        gemm_call d = c;
        gemm_connect(&d, 2, 1);
        d.in[0].dim[1] = d.out.dim[1] = m;
        d.out.data = gemm_alloc(holo_tensor_bytes(&d.out));
        if (!gemm_run(TUNED(matmul_p16), &d)) return;
        CHECK_MEM(d.out.data, c.out.data, holo_tensor_bytes(&d.out));
        free(d.out.data);
    }
    gemm_free(&c);
}

/* Two and four threads get equal parts of a product of few units. */
static void p16_tuned_equal_parts(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    static const int64_t columns[] = {128, 192, 320, 512, 576, 960, 1280};
    for (int64_t m = 8; m <= 200; m += 24)
        for (size_t i = 0; i < HG_COUNT(columns); i++) {
            gemm_call c;
            p16_make(&c, &(p16_sizes){m, columns[i], 3, 1}, HOLO_F32);
            const int64_t units = hg_kernel_work(TUNED(matmul_p16), &c.args).units;
            CHECK(units % 4 == 0 || units >= 16);
            gemm_free(&c);
        }
}

static void p16_tuned_refuses(void)
{
    gemm_refuse(TUNED(matmul_p16), p16_good, p16_bad, HG_COUNT(p16_bad));
}
#endif

const hg_test_case hg_tests_kernel_matmul_p16[] = {
    {"matches_oracle", p16_matches_oracle},
    {"exact_bits", p16_exact_bits},
    {"epilogue", p16_epilogue},
    {"refuses", p16_refuses},
    {"cost", p16_cost_counts},
#if defined(TUNED)
    {"tuned", p16_tuned},
    {"tuned_rests", p16_tuned_rests},
    {"tuned_rows_alone", p16_tuned_rows_alone},
    {"tuned_equal_parts", p16_tuned_equal_parts},
    {"tuned_refuses", p16_tuned_refuses},
#endif
    {0},
};
