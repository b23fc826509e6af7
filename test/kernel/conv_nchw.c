/* conv_nchw.c - conv.nchw, reference and tuned: every output against a sum in double precision. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_nchw[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_nchw)[];
#endif

typedef struct nchw_sizes {
    int64_t n, c, h, w, o, oh, ow;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left;
} nchw_sizes;

enum { NCHW_PARAMS = 8 };

static void nchw_make(gemm_call *c, const nchw_sizes *s, holo_dtype dtype)
{
    const int64_t k = s->kh * s->kw * s->c;
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->c, s->h, s->w}, 1);
    c->in[1] = gemm_tensor(dtype, 4, (int64_t[]){1, (s->o + 15) / 16, k, 16}, 2);
    c->out = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->oh, s->ow, s->o}, 3);
    memcpy(c->param, &s->kh, 6 * sizeof(int64_t));
    c->param[6] = c->param[7] = 1;
    gemm_connect(c, 2, NCHW_PARAMS);
}

static double nchw_sum(const gemm_call *c, const nchw_sizes *s, int64_t element, double *sum_abs)
{
    const int64_t o = element % s->o, ox = element / s->o % s->ow;
    const int64_t oy = element / s->o / s->ow % s->oh, image = element / s->o / s->ow / s->oh;
    const int64_t k = s->kh * s->kw * s->c;
    double sum = 0;
    *sum_abs = 0;
    for (int64_t i = 0; i < k; i++) {
        const int64_t y = oy * s->stride_h + i / s->c / s->kw - s->pad_top;
        const int64_t x = ox * s->stride_w + i / s->c % s->kw - s->pad_left;
        if (y < 0 || y >= s->h || x < 0 || x >= s->w) continue;
        const int64_t at = ((image * s->c + i % s->c) * s->h + y) * s->w + x;
        const double p =
            gemm_get(&c->in[0], at) * gemm_get(&c->in[1], (o / 16 * k + i) * 16 + o % 16);
        sum += p;
        *sum_abs += fabs(p);
    }
    return sum;
}

static void nchw_try(const hg_kernel *k, const char *what, const nchw_sizes *s, holo_dtype dtype)
{
    gemm_call c;
    nchw_make(&c, s, dtype);
    const bool ran = gemm_run(k, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        double sum_abs;
        const double sum = nchw_sum(&c, s, e, &sum_abs);
        if (!gemm_near(what, &c.out, e, s->kh * s->kw * s->c, sum, sum_abs)) break;
    }
    gemm_free(&c);
}

/* clang-format off */
static const nchw_sizes nchw_table[] = {
    /* n c  h   w   o  oh ow  kernel stride  pad */
    {1,  3, 9, 12, 16, 9, 12, 3, 3,  1, 1,  1, 1},
    {2,  3, 9, 31, 32, 5, 16, 3, 3,  2, 2,  1, 1},
    {1,  3, 9, 70, 48, 5, 35, 3, 3,  2, 2,  1, 1},
    {1,  1, 40, 9, 20, 40, 9, 5, 5,  1, 1,  2, 2},   /* several units */
    {3,  2, 11, 17, 70, 6, 9, 3, 5,  2, 2,  1, 2},   /* panels of three and two, columns missing */
    {1,  4, 9, 20,  8, 9, 20, 3, 3,  1, 1,  1, 1},   /* half a panel */
    {1,  4, 9, 20,  5, 9, 20, 3, 3,  1, 1,  1, 1},
    {1,  3, 14, 14, 24, 2, 2, 7, 7,  7, 7,  0, 0},
    {1,  3, 20, 20, 17, 3, 3, 2, 2,  7, 7,  0, 0},   /* lines that nobody reads */
    {1,  7, 9, 12, 16, 9, 12, 3, 3,  1, 1,  1, 1},   /* more planes than go in registers */
    {1,  3, 9, 12, 16, 4, 5, 3, 3,  1, 1, -3, -4},   /* negative padding crops */
    {1,  3, 4, 4, 16, 10, 9, 3, 3,  1, 1,  1, 1},    /* output reaches far outside */
    {1,  3, 4, 4, 16, 3, 3, 3, 3,  1, 1, 40, 90},    /* nothing inside */
    {1,  0, 5, 5, 16, 5, 5, 3, 3,  1, 1,  1, 1},
    {1,  3, 5, 5,  0, 5, 5, 3, 3,  1, 1,  1, 1},
    {0,  3, 5, 5, 16, 5, 5, 3, 3,  1, 1,  1, 1},
    {1,  3, 0, 5, 16, 5, 5, 3, 3,  1, 1,  1, 1},
    {1,  3, 5, 0, 16, 5, 5, 3, 3,  1, 1,  1, 1},
    {1,  3, 5, 5, 16, 5, 0, 3, 3,  1, 1,  1, 1},
};
/* clang-format on */

static void nchw_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(nchw_table); i++)
        for (int is_half = 0; is_half < 2; is_half++) {
            char what[40];
            snprintf(what, sizeof what, "case %zu, half %d", i, is_half);
            nchw_try(k, what, &nchw_table[i], is_half ? HOLO_F16 : HOLO_F32);
        }
}

static void nchw_matches_oracle(void)
{
    nchw_table_on(hg_kernels_conv_nchw);
}

/* A bias and a clamp, which tiles do; an operand as large as the output, which comes behind them;
 * with an output of 16 bits the interpreter. */
static void nchw_epilogue_on(const hg_kernel *k, holo_dtype type, uint32_t extra, int64_t o)
{
    const nchw_sizes s = {2, 3, 12, 21, o, 6, 11, 3, 3, 2, 2, 1, 1};
    gemm_call plain, c;
    gemm_code code;
    nchw_make(&plain, &s, HOLO_F32);
    nchw_make(&c, &s, HOLO_F32);
    free(c.out.data);
    c.out = gemm_tensor(type, 4, (int64_t[]){2, 6, 11, o}, 6);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){o}, 7);
    if (extra > 1) c.in[3] = gemm_tensor(HOLO_F32, 4, (int64_t[]){2, 6, 11, o}, 8);
    gemm_code_sum(&code, extra);
    gemm_connect(&c, 2 + extra, NCHW_PARAMS);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &plain) && gemm_run(k, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        double sum = gemm_get(&plain.out, e) + gemm_get(&c.in[2], e % o);
        if (extra > 1) sum += gemm_get(&c.in[3], e);
        if (!gemm_near("epilogue", &c.out, e, 30, sum < 0 ? 0 : sum, fabs(sum) + 3)) break;
    }
    gemm_free(&plain);
    gemm_free(&c);
}

static void nchw_epilogues(const hg_kernel *k)
{
    for (int64_t o = 6; o <= 66; o += 10) {
        nchw_epilogue_on(k, HOLO_F32, 1, o);
        nchw_epilogue_on(k, HOLO_F32, 2, o);
        nchw_epilogue_on(k, HOLO_F16, 2, o);
    }
}

static void nchw_epilogue(void)
{
    nchw_epilogues(hg_kernels_conv_nchw);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double nchw_space[512];

static void nchw_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){nchw_space, {1, 3, 6, 7}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){nchw_space, {1, 2, 12, 16}, 4, HOLO_F32};
    c->out = (holo_tensor){nchw_space, {1, 3, 4, 20}, 4, HOLO_F32};
    const int64_t param[NCHW_PARAMS] = {2, 2, 2, 2, 0, 0, 1, 1};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 2, NCHW_PARAMS);
}

#define NCHW_SPOIL(name, ...)                                                                      \
    static void nchw_spoil_##name(gemm_call *c)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
NCHW_SPOIL(inputs, c->args.n_in = 1)
NCHW_SPOIL(params, c->args.n_param = 7)
NCHW_SPOIL(type_x, c->in[0].dtype = HOLO_F64)
NCHW_SPOIL(type_w, c->in[1].dtype = HOLO_BF16)
NCHW_SPOIL(rank_x, c->in[0].rank = 5)
NCHW_SPOIL(rank_w, c->in[1].rank = 3)
NCHW_SPOIL(images, c->out.dim[0] = 2)
NCHW_SPOIL(stride, c->param[3] = 0)
NCHW_SPOIL(dilation_h, c->param[6] = 3)
NCHW_SPOIL(dilation_w, c->param[7] = 2)
NCHW_SPOIL(groups, c->in[1].dim[0] = 2)
NCHW_SPOIL(panels, c->in[1].dim[1] = 1)
NCHW_SPOIL(depth, c->in[1].dim[2] = 11)
NCHW_SPOIL(width, c->in[1].dim[3] = 8)
NCHW_SPOIL(kernel, c->param[0] = c->param[1] = INT32_MAX; c->in[0].dim[1] = 8)
NCHW_SPOIL(lines, c->param[3] = INT32_MAX; c->out.dim[2] = INT64_C(1) << 12; c->out.dim[1] = 0)
NCHW_SPOIL(extra, c->args.n_in = 3)
#undef NCHW_SPOIL

static const gemm_bad nchw_bad[] = {
    {"inputs", nchw_spoil_inputs, HOLO_E_FORMAT},
    {"parameters", nchw_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", nchw_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", nchw_spoil_type_w, HOLO_E_TYPE},
    {"input has rank", nchw_spoil_rank_x, HOLO_E_SHAPE},
    {"packed weights has rank", nchw_spoil_rank_w, HOLO_E_SHAPE},
    {"output has 2 images", nchw_spoil_images, HOLO_E_SHAPE},
    {"stride is 0", nchw_spoil_stride, HOLO_E_ARG},
    {"dilation is 3", nchw_spoil_dilation_h, HOLO_E_ARG},
    {"dilation is 2", nchw_spoil_dilation_w, HOLO_E_ARG},
    {"dimension 0 of the packed weights", nchw_spoil_groups, HOLO_E_SHAPE},
    {"dimension 1 of the packed weights", nchw_spoil_panels, HOLO_E_SHAPE},
    {"dimension 2 of the packed weights", nchw_spoil_depth, HOLO_E_SHAPE},
    {"dimension 3 of the packed weights", nchw_spoil_width, HOLO_E_SHAPE},
    {"is too large", nchw_spoil_kernel, HOLO_E_SHAPE},
    {"reads too much", nchw_spoil_lines, HOLO_E_SHAPE},
    {"inputs, expected at most 2", nchw_spoil_extra, HOLO_E_FORMAT},
};

static void nchw_refuses(void)
{
    gemm_refuse(hg_kernels_conv_nchw, nchw_good, nchw_bad, HG_COUNT(nchw_bad));
}

static void nchw_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    nchw_good(&c);
    hg_cost cost = {0};
    hg_kernels_conv_nchw->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 3 * 4 * 20 * 12, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static void nchw_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    nchw_table_on(TUNED(conv_nchw));
    nchw_epilogues(TUNED(conv_nchw));
    uint32_t seed = 5;
    for (int i = 0; i < 200; i++) {
        nchw_sizes s = {.n = gemm_size(&seed, 1, 2), .c = gemm_size(&seed, 1, 5)};
        s.h = gemm_size(&seed, 1, 24);
        s.w = gemm_size(&seed, 1, 40);
        s.o = gemm_size(&seed, 1, 70);
        s.oh = gemm_size(&seed, 1, 20);
        s.ow = gemm_size(&seed, 1, 40);
        s.kh = gemm_size(&seed, 1, 4);
        s.kw = gemm_size(&seed, 1, 5);
        s.stride_h = gemm_size(&seed, 1, 3);
        s.stride_w = gemm_size(&seed, 1, 3);
        s.pad_top = gemm_size(&seed, -2, 4);
        s.pad_left = gemm_size(&seed, -2, 4);
        char what[40];
        snprintf(what, sizeof what, "random %d", i);
        nchw_try(TUNED(conv_nchw), what, &s, i % 4 ? HOLO_F32 : HOLO_F16);
    }
}
#endif

const hg_test_case hg_tests_kernel_conv_nchw[] = {
    {"matches_oracle", nchw_matches_oracle},
    {"epilogue", nchw_epilogue},
    {"refuses", nchw_refuses},
    {"cost", nchw_cost_counts},
#if defined(TUNED)
    {"tuned", nchw_tuned},
#endif
    {0},
};
