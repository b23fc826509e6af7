/* conv_dw.c - conv.dw against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_dw[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_dw)[];
#endif

typedef struct dw_sizes {
    int64_t n, h, w, c, oh, ow;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w;
} dw_sizes;

/* A third axis, in front of the others. */
typedef struct dw_planes {
    int64_t in, out, kernel, stride, pad, dil;
} dw_planes;

static const dw_planes dw_flat = {1, 1, 1, 1, 0, 1};

/* [n, h, w, c], or [n, planes, h, w, c]; the rank. */
static int dw_dims(const dw_sizes *s, const dw_planes *z, int64_t planes, int64_t h, int64_t w,
                   int64_t *dim)
{
    int rank = 0;
    dim[rank++] = s->n;
    if (z != &dw_flat) dim[rank++] = planes;
    dim[rank++] = h;
    dim[rank++] = w;
    dim[rank++] = s->c;
    return rank;
}

static void dw_make(gemm_call *c, const dw_sizes *s, const dw_planes *z, holo_dtype dtype)
{
    int64_t in[5], out[5];
    uint32_t n_param = 0;
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, dw_dims(s, z, z->in, s->h, s->w, in), in, 1);
    c->in[1] = gemm_tensor(dtype, 2, (int64_t[]){z->kernel * s->kh * s->kw, s->c}, 2);
    c->out = gemm_tensor(HOLO_F32, dw_dims(s, z, z->out, s->oh, s->ow, out), out, 3);
    for (int i = 0; i < 4; i++) {
        if (z != &dw_flat) c->param[n_param++] = (&z->kernel)[i];
        c->param[n_param++] = (&s->kh)[2 * i];
        c->param[n_param++] = (&s->kh)[2 * i + 1];
    }
    gemm_connect(c, 2, n_param);
}

static double dw_oracle(const gemm_call *c, const dw_sizes *s, const dw_planes *z, int64_t element,
                        double *sum_abs)
{
    const int64_t channel = element % s->c, ox = element / s->c % s->ow;
    const int64_t oy = element / s->c / s->ow % s->oh, picture = element / s->c / s->ow / s->oh;
    double sum = 0;
    *sum_abs = 0;
    for (int64_t t = 0; t < z->kernel * s->kh * s->kw; t++) {
        const int64_t plane = picture % z->out * z->stride + t / s->kw / s->kh * z->dil - z->pad;
        const int64_t y = oy * s->stride_h + t / s->kw % s->kh * s->dil_h - s->pad_top;
        const int64_t x = ox * s->stride_w + t % s->kw * s->dil_w - s->pad_left;
        if (plane < 0 || plane >= z->in || y < 0 || y >= s->h || x < 0 || x >= s->w) continue;
        const int64_t image = picture / z->out * z->in + plane;
        const double p = gemm_get(&c->in[0], ((image * s->h + y) * s->w + x) * s->c + channel) *
                         gemm_get(&c->in[1], t * s->c + channel);
        sum += p;
        *sum_abs += fabs(p);
    }
    return sum;
}

static void dw_try(const hg_kernel *k, const char *what, const dw_sizes *s, const dw_planes *z,
                   holo_dtype dtype)
{
    gemm_call c;
    dw_make(&c, s, z, dtype);
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        const double sum = dw_oracle(&c, s, z, e, &sum_abs);
        if (!gemm_near(what, &c.out, e, c.in[1].dim[0], sum, sum_abs)) break;
    }
    gemm_free(&c);
}

/* clang-format off */
static const dw_sizes dw_table[] = {
    /* n  h   w   c   oh  ow  kernel stride  pad     dil */
    {1,  5,  6,  8,  5,  6,  3, 3,  1, 1,  1, 1,   1, 1},
    {2,  9, 14, 20,  9, 14,  3, 3,  1, 1,  1, 1,   1, 1},
    {1, 13, 15, 17,  7,  8,  3, 3,  2, 2,  1, 1,   1, 1},
    {1, 11, 17, 40, 11, 17,  5, 5,  1, 1,  2, 2,   1, 1},
    {1, 11, 17, 19,  6,  9,  5, 5,  2, 2,  2, 2,   1, 1},
    {1, 12, 20, 24, 12, 20,  7, 7,  1, 1,  3, 3,   1, 1},
    {1, 12, 19, 24, 12, 19,  9, 9,  1, 1,  4, 4,   1, 1}, /* in pieces */
    {1, 10, 23, 17,  5, 12, 11, 7,  2, 2,  5, 3,   1, 1},
    {2, 16, 16,  9, 16, 16,  6, 6,  1, 1,  3, 2,   1, 1},
    {1,  9, 30,  8,  9, 30,  1, 13, 1, 1,  0, 6,   1, 1},
    {1,  9, 40,  8,  9, 40,  7, 1,  1, 1,  3, 0,   1, 1},
    {1,  9, 40,  8,  9, 40,  3, 9,  1, 1,  1, 12,  1, 3},
    {1,  9,  9,  9,  9,  9,  3, 3,  1, 1,  2, 2,   2, 2},
    {1,  9,  9, 16,  9,  9,  3, 3,  1, 1,  2, 1,   2, 1},
    {1,  7,  7,  3,  7,  7,  3, 3,  1, 1,  1, 1,   1, 1}, /* fewer channels than a vector */
    {1,  6,  3, 12,  6,  3,  3, 3,  1, 1,  1, 1,   1, 1}, /* narrower than a tile */
    {1,  4, 30,  8,  4, 30,  1, 9,  1, 1,  0, 4,   1, 1},
    {1, 30,  4,  8, 30,  4,  9, 1,  1, 1,  4, 0,   1, 1},
    {1,  7,  7, 24,  7,  7,  5, 1,  1, 1,  2, 0,   1, 1}, /* rows as one, tiles of four */
    {1,  8, 12,  8,  9, 11,  2, 2,  1, 1,  1, 0,   1, 1},
    {1, 20, 20, 10,  6,  5,  3, 3,  2, 3, -3, -2,  1, 1}, /* negative padding crops */
    {1,  4,  4,  8, 10,  9,  3, 3,  1, 1,  1, 1,   1, 1}, /* output reaches far outside */
    {1,  4,  4,  8,  3,  3,  3, 3,  1, 1, 40, 90,  1, 1}, /* nothing inside */
    {1,  3, 200, 23, 3, 200, 3, 3,  1, 1,  1, 1,   1, 1}, /* last channel block a little wider */
    {1,  3, 200, 40, 3, 200, 3, 3,  1, 1,  1, 1,   1, 1},
    {1,  9,  9, 256, 9,  9,  3, 3,  1, 1,  1, 1,   1, 1}, /* pixels far apart: a copy */
    {2, 13,  9, 512, 7,  5,  5, 5,  2, 2,  2, 2,   1, 1},
    {1, 12, 10, 256, 12, 10, 3, 3,  1, 1,  2, 2,   2, 2},
    {1, 20, 20, 256, 6,  5,  3, 3,  2, 3, -3, -2,  1, 1},
    {1,  9,  9, 256, 3,  3,  3, 3,  1, 1, 40, 90,  1, 1},
    {1, 14, 14, 40,  7,  7,  5, 5,  2, 2,  1, 1,   1, 1}, /* more padding right than left */
    {1,  8,  7, 32,  8,  7,  3, 3,  1, 1,  1, 1,   1, 1}, /* one tile, padding on both sides */
    {1,  6,  4, 16,  6,  4,  3, 3,  1, 1,  1, 1,   1, 1}, /* narrow, 16 channels and more */
    {2,  6,  5, 35,  6,  5,  3, 3,  1, 1,  1, 1,   1, 1},
    {1,  6,  6, 32,  4,  4,  3, 3,  1, 1,  0, 0,   1, 1},
    {1,  9, 11, 24,  5,  6,  3, 3,  2, 2,  1, 1,   1, 1},
    {1,  8,  9, 35,  8,  9,  5, 5,  1, 1,  2, 2,   1, 1},
    {1,  7, 11, 16, 11, 15,  3, 3,  1, 1,  3, 3,   1, 1}, /* padding of more than half a kernel */
    {1, 16, 31, 48, 16, 31,  5, 5,  1, 1,  4, 4,   2, 2},
    {1,  5,  5,  0,  5,  5,  3, 3,  1, 1,  1, 1,   1, 1},
    {0,  5,  5,  4,  5,  5,  3, 3,  1, 1,  1, 1,   1, 1},
    {1,  5,  5,  4,  5,  0,  3, 3,  1, 1,  1, 1,   1, 1},
    {1,  5,  0,  4,  5,  5,  3, 3,  1, 1,  1, 1,   1, 1},
};
/* clang-format on */

static const dw_planes dw_planes_table[] = {
    {4, 4, 3, 1, 1, 1},  {7, 3, 3, 2, 0, 1}, {5, 5, 5, 1, 4, 2},
    {1, 6, 3, 1, 4, 1}, /* planes of padding alone */
    {6, 3, 1, 1, -2, 1}, {0, 2, 2, 1, 1, 1}, {2, 0, 2, 1, 1, 1},
};

static void dw_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(dw_table); i++) {
        char what[40];
        snprintf(what, sizeof what, "case %zu", i);
        dw_try(k, what, &dw_table[i], &dw_flat, HOLO_F32);
        dw_try(k, what, &dw_table[i], &dw_flat, HOLO_F16);
        for (size_t j = 0; j < HG_COUNT(dw_planes_table); j++)
            dw_try(k, what, &dw_table[i], &dw_planes_table[j], j % 2 ? HOLO_F16 : HOLO_F32);
    }
}

static void dw_matches_oracle(void)
{
    dw_table_on(hg_kernels_conv_dw);
}

/* Taps in order, multiply then add. */
static void dw_exact_bits(void)
{
    const dw_sizes s = {1, 6, 5, 19, 6, 5, 3, 3, 1, 1, 1, 1, 1, 1};
    gemm_call c;
    dw_make(&c, &s, &dw_flat, HOLO_F32);
    if (!gemm_run(hg_kernels_conv_dw, &c)) return;
    const float *x = c.in[0].data, *w = c.in[1].data, *out = c.out.data;
    for (int64_t e = 0; e < s.h * s.w * s.c; e++) {
        volatile float sum = 0;
        for (int64_t t = 0; t < 9; t++) {
            const int64_t y = e / s.c / s.w + t / 3 - 1, z = e / s.c % s.w + t % 3 - 1;
            if (y < 0 || y >= s.h || z < 0 || z >= s.w) continue;
            volatile float product = x[(y * s.w + z) * s.c + e % s.c] * w[t * s.c + e % s.c];
            sum = sum + product;
        }
        if (!CHECK(sum == out[e])) return;
    }
    gemm_free(&c);
}

static void dw_epilogue_on(const hg_kernel *k, const dw_sizes *s, const dw_planes *z,
                           holo_dtype out)
{
    gemm_call c;
    gemm_code code;
    int64_t dim[5];
    const int rank = dw_dims(s, z, z->out, s->oh, s->ow, dim);
    dw_make(&c, s, z, HOLO_F32);
    free(c.out.data);
    c.in[2] = gemm_tensor(HOLO_F32, 1, (int64_t[]){s->c}, 4);
    c.in[3] = gemm_tensor(HOLO_F32, rank, dim, 5);
    c.out = gemm_tensor(out, rank, dim, 6);
    gemm_code_sum(&code, 2);
    gemm_connect(&c, 4, c.args.n_param);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        double sum = dw_oracle(&c, s, z, e, &sum_abs);
        const double extra[2] = {gemm_get(&c.in[2], e % s->c), gemm_get(&c.in[3], e)};
        sum += extra[0] + extra[1];
        sum_abs += fabs(extra[0]) + fabs(extra[1]);
        if (!gemm_near("epilogue", &c.out, e, c.in[1].dim[0], sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static void dw_epilogue_cases(const hg_kernel *k)
{
    static const dw_sizes sizes[] = {{2, 9, 10, 20, 9, 10, 3, 3, 1, 1, 1, 1, 1, 1},
                                     {1, 40, 150, 24, 40, 150, 3, 3, 1, 1, 1, 1, 1, 1}};
    for (size_t i = 0; i < HG_COUNT(sizes); i++) {
        dw_epilogue_on(k, &sizes[i], &dw_flat, HOLO_F32);
        dw_epilogue_on(k, &sizes[i], &dw_flat, HOLO_F16);
        dw_epilogue_on(k, &sizes[i], &dw_planes_table[i], i % 2 ? HOLO_F16 : HOLO_F32);
    }
}

static void dw_epilogue(void)
{
    dw_epilogue_cases(hg_kernels_conv_dw);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double dw_space[512];

static void dw_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){dw_space, {1, 5, 6, 8}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){dw_space, {6, 8}, 2, HOLO_F32};
    c->out = (holo_tensor){dw_space, {1, 5, 6, 8}, 4, HOLO_F32};
    const int64_t param[8] = {3, 2, 1, 1, 1, 1, 1, 1};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 2, 8);
}

#define DW_SPOIL(name, ...)                                                                        \
    static void dw_spoil_##name(gemm_call *c)                                                      \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
DW_SPOIL(inputs, c->args.n_in = 1)
DW_SPOIL(params, c->args.n_param = 9)
DW_SPOIL(type_x, c->in[0].dtype = HOLO_F64)
DW_SPOIL(type_w, c->in[1].dtype = HOLO_BF16)
DW_SPOIL(type_out, c->out.dtype = HOLO_U8)
DW_SPOIL(rank_w, c->in[1].rank = 3)
DW_SPOIL(channels, c->out.dim[3] = 4)
DW_SPOIL(taps, c->param[0] = 2)
DW_SPOIL(weights, c->in[1].dim[1] = 7)
DW_SPOIL(stride, c->param[2] = 0)
DW_SPOIL(extra, c->args.n_in = 3)
DW_SPOIL(kernel, c->in[0].rank = c->out.rank = 5; c->in[0].dim[4] = c->out.dim[4] = 8;
         for (int i = 0; i < 12; i++) c->param[i] = i < 3 ? INT32_MAX : 1; c->args.n_param = 12)
#undef DW_SPOIL

static const gemm_bad dw_bad[] = {
    {"inputs, expected at least 2", dw_spoil_inputs, HOLO_E_FORMAT},
    {"parameters", dw_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", dw_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", dw_spoil_type_w, HOLO_E_TYPE},
    {"output has type", dw_spoil_type_out, HOLO_E_TYPE},
    {"packed weights has rank", dw_spoil_rank_w, HOLO_E_SHAPE},
    {"output has 4 channels", dw_spoil_channels, HOLO_E_SHAPE},
    {"weights have 6 taps, expected 4", dw_spoil_taps, HOLO_E_SHAPE},
    {"weights have 7 channels", dw_spoil_weights, HOLO_E_SHAPE},
    {"stride is 0", dw_spoil_stride, HOLO_E_ARG},
    {"inputs, expected at most 2", dw_spoil_extra, HOLO_E_FORMAT},
    {"a kernel of 2147483647 x 2147483647 x 2147483647 is too large", dw_spoil_kernel,
     HOLO_E_SHAPE},
};

static void dw_refuses(void)
{
    gemm_refuse(hg_kernels_conv_dw, dw_good, dw_bad, HG_COUNT(dw_bad));
}

static void dw_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    dw_good(&c);
    hg_cost cost = {0};
    hg_kernels_conv_dw->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 5 * 6 * 8 * 6, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static void dw_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    dw_table_on(TUNED(conv_dw));
    dw_epilogue_cases(TUNED(conv_dw));
    uint32_t seed = 3;
    for (int i = 0; i < 600; i++) {
        dw_sizes s = {.n = gemm_size(&seed, 1, 2), .h = gemm_size(&seed, 1, 14)};
        s.w = gemm_size(&seed, 1, 30);
        s.c = gemm_size(&seed, 1, 40);
        s.kh = gemm_size(&seed, 1, 7);
        s.kw = gemm_size(&seed, 1, 13);
        s.stride_h = gemm_size(&seed, 1, 3);
        s.stride_w = gemm_size(&seed, 1, 2);
        s.pad_top = gemm_size(&seed, -2, 4);
        s.pad_left = gemm_size(&seed, -2, 7);
        s.dil_h = gemm_size(&seed, 1, 2);
        s.dil_w = gemm_random(&seed) % 4 == 0 ? 2 : 1;
        s.oh = gemm_size(&seed, 1, 16);
        s.ow = gemm_size(&seed, 1, 30);
        char what[40];
        snprintf(what, sizeof what, "random %d", i);
        dw_try(TUNED(conv_dw), what, &s, &dw_flat, i % 2 ? HOLO_F16 : HOLO_F32);
        const dw_planes z = {.in = gemm_size(&seed, 1, 4),
                             .out = gemm_size(&seed, 1, 4),
                             .kernel = gemm_size(&seed, 1, 4),
                             .stride = gemm_size(&seed, 1, 2),
                             .pad = gemm_size(&seed, -1, 3),
                             .dil = gemm_size(&seed, 1, 2)};
        if (i % 4 == 0) dw_try(TUNED(conv_dw), what, &s, &z, HOLO_F32);
    }
}

static void dw_tuned_refuses(void)
{
    gemm_refuse(TUNED(conv_dw), dw_good, dw_bad, HG_COUNT(dw_bad));
}
#endif

const hg_test_case hg_tests_kernel_conv_dw[] = {
    {"matches_oracle", dw_matches_oracle},
    {"exact_bits", dw_exact_bits},
    {"epilogue", dw_epilogue},
    {"refuses", dw_refuses},
    {"cost", dw_cost_counts},
#if defined(TUNED)
    {"tuned", dw_tuned},
    {"tuned_refuses", dw_tuned_refuses},
#endif
    {0},
};
