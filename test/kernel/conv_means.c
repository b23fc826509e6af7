/* conv_means.c - means of rows as a second output of conv.dw and conv.pwdw: the first output stays
 * as it is without, and the means are those of a plain loop over it, bit by bit. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

#include "kernel/conv_pwdw.h"

extern const hg_kernel hg_kernels_conv_dw[], hg_kernels_conv_pwdw[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_dw)[], TUNED(conv_pwdw)[];
#endif

typedef struct means_sizes {
    int64_t n, h, w, c, kernel, stride, pad, oh, ow;
    uint32_t extra; /* operands of the epilogue; three are more than tiles can finish */
} means_sizes;

static void means_make(gemm_call *c, const means_sizes *s, bool expands)
{
    const int64_t param[8] = {s->kernel, s->kernel, s->stride, s->stride, s->pad, s->pad, 1, 1};
    uint32_t n_in = 0;
    memset(c, 0, sizeof *c);
    c->in[n_in++] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->h, s->w, expands ? 3 : s->c}, 1);
    if (expands)
        c->in[n_in++] = gemm_tensor(HOLO_F32, 4, (int64_t[]){1, (s->c + 15) / 16, 3, 16}, 2);
    c->in[n_in++] = gemm_tensor(HOLO_F32, 2, (int64_t[]){s->kernel * s->kernel, s->c}, 3);
    if (expands) c->in[n_in] = gemm_tensor(HOLO_F32, 1, (int64_t[]){s->c}, 4);
    if (expands) n_in += HG_CONV_PWDW_N_COLUMNS;
    for (uint32_t i = 0; i < s->extra; i++)
        c->in[n_in++] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->oh, s->ow, s->c}, 5 + i);
    c->out = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->oh, s->ow, s->c}, 9);
    memcpy(c->param, param, sizeof param);
    if (expands) gemm_set_f64(c, HG_CONV_PWDW_ACT + 5, 1);
    if (expands) gemm_set_f64(c, HG_CONV_PWDW_ACT + 7, 1);
    gemm_connect(c, n_in, expands ? HG_CONV_PWDW_PARAMS : 8);
}

static void means_check(const means_sizes *s, const float *y, const float *m)
{
    for (int64_t i = 0; i < s->n * s->oh; i++)
        for (int64_t j = 0; j < s->c; j++) {
            float sum = 0;
            for (int64_t x = 0; x < s->ow; x++)
                sum += y[(i * s->ow + x) * s->c + j];
            sum /= (float)s->ow;
            if (memcmp(&sum, &m[i * s->c + j], sizeof sum) == 0) continue;
            hg_test_fail(__FILE__, __LINE__, "row %lld, channel %lld: %.9g, expected %.9g",
                         (long long)i, (long long)j, (double)m[i * s->c + j], (double)sum);
            return;
        }
}

static void means_try(const hg_kernel *k, const means_sizes *s, bool expands)
{
    gemm_call plain, c;
    gemm_code code;
    means_make(&plain, s, expands);
    means_make(&c, s, expands);
    gemm_code_sum(&code, s->extra);
    if (s->extra > 0) plain.args.code = c.args.code = &code.code;
    holo_tensor out[2] = {c.out, gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->oh, 1, s->c}, 10)};
    c.args.out = out;
    c.args.n_out = 2;
    if (gemm_run(k, &plain) && gemm_run(k, &c)) {
        CHECK(memcmp(plain.out.data, c.out.data, holo_tensor_bytes(&c.out)) == 0);
        means_check(s, c.out.data, out[1].data);
    }
    free(out[1].data);
    gemm_free(&plain);
    gemm_free(&c);
}

static const means_sizes means_table[] = {
    {1, 6, 7, 16, 3, 1, 1, 6, 7, 0},     {2, 9, 11, 40, 3, 1, 1, 9, 11, 1},
    {1, 13, 9, 19, 3, 2, 1, 7, 5, 3},    {1, 4, 5, 7, 5, 1, 2, 4, 5, 1},
    {1, 40, 50, 32, 3, 1, 1, 40, 50, 0}, {1, 40, 50, 17, 3, 1, 1, 40, 50, 3},
    {1, 5, 1, 33, 1, 1, 0, 5, 1, 0},     {0, 5, 4, 16, 3, 1, 1, 5, 4, 0},
    {1, 5, 4, 0, 3, 1, 1, 5, 4, 0},      {2, 7, 3, 64, 3, 1, 1, 7, 3, 3},
};

static void means_all(const hg_kernel *dw, const hg_kernel *pwdw)
{
    for (size_t i = 0; i < HG_COUNT(means_table); i++) {
        means_try(dw, &means_table[i], false);
        means_try(pwdw, &means_table[i], true);
    }
}

static void means_reference(void)
{
    means_all(hg_kernels_conv_dw, hg_kernels_conv_pwdw);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double means_space[512];
static holo_tensor means_out[2];

static void means_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){means_space, {1, 5, 6, 4}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){means_space, {9, 4}, 2, HOLO_F32};
    const int64_t param[8] = {3, 3, 1, 1, 1, 1, 1, 1};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 2, 8);
    means_out[0] = (holo_tensor){means_space, {1, 5, 6, 4}, 4, HOLO_F32};
    means_out[1] = (holo_tensor){means_space, {1, 5, 1, 4}, 4, HOLO_F32};
    c->args.out = means_out;
    c->args.n_out = 2;
}

#define MEANS_SPOIL(name, ...)                                                                     \
    static void means_spoil_##name(gemm_call *c)                                                   \
    {                                                                                              \
        (void)c;                                                                                   \
        __VA_ARGS__;                                                                               \
    }
MEANS_SPOIL(type_y, means_out[0].dtype = HOLO_F16)
MEANS_SPOIL(type_m, means_out[1].dtype = HOLO_F16)
MEANS_SPOIL(rank, means_out[1].rank = 3)
MEANS_SPOIL(deep, c->in[0].rank = means_out[0].rank = 5; means_out[0].dim[4] = c->in[0].dim[4] = 4;
            for (int i = 0; i < 12; i++) c->param[i] = i == 1 || i == 2 ? 3 : 1;
            c->args.n_param = 12)
MEANS_SPOIL(narrow, means_out[0].dim[2] = 0)
MEANS_SPOIL(images, means_out[1].dim[0] = 2)
MEANS_SPOIL(rows, means_out[1].dim[1] = 4)
MEANS_SPOIL(wide, means_out[1].dim[2] = 6)
MEANS_SPOIL(channels, means_out[1].dim[3] = 5)
MEANS_SPOIL(outputs, c->args.n_out = 3)
#undef MEANS_SPOIL

static const gemm_bad means_bad[] = {
    {"output 0 has type", means_spoil_type_y, HOLO_E_TYPE},
    {"output 1 has type", means_spoil_type_m, HOLO_E_TYPE},
    {"means has rank", means_spoil_rank, HOLO_E_SHAPE},
    {"0 pixels in a row, expected at least 1", means_spoil_narrow, HOLO_E_SHAPE},
    {"dimension 0 of the means is 2", means_spoil_images, HOLO_E_SHAPE},
    {"dimension 1 of the means is 4", means_spoil_rows, HOLO_E_SHAPE},
    {"dimension 2 of the means is 6", means_spoil_wide, HOLO_E_SHAPE},
    {"dimension 3 of the means is 5", means_spoil_channels, HOLO_E_SHAPE},
    {"3 outputs", means_spoil_outputs, HOLO_E_FORMAT},
};

static const gemm_bad means_bad_planes[] = {
    {"output with means has rank 5", means_spoil_deep, HOLO_E_SHAPE},
};

/* The 1x1 convolution in front asks the same. */
static void means_good_expanded(gemm_call *c)
{
    means_good(c);
    c->in[2] = c->in[1];
    c->in[1] = (holo_tensor){means_space, {1, 1, 4, 16}, 4, HOLO_F32};
    gemm_connect(c, 3, HG_CONV_PWDW_PARAMS);
    c->args.out = means_out;
    c->args.n_out = 2;
}

static void means_refuses(void)
{
    gemm_refuse(hg_kernels_conv_dw, means_good, means_bad, HG_COUNT(means_bad));
    gemm_refuse(hg_kernels_conv_dw, means_good, means_bad_planes, HG_COUNT(means_bad_planes));
    gemm_refuse(hg_kernels_conv_pwdw, means_good_expanded, means_bad, HG_COUNT(means_bad));
}

#if defined(TUNED)
static void means_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    means_all(TUNED(conv_dw), TUNED(conv_pwdw));
    uint32_t seed = 5;
    for (int i = 0; i < 100; i++) {
        means_sizes s = {.n = gemm_size(&seed, 1, 2), .stride = gemm_size(&seed, 1, 2)};
        s.h = gemm_size(&seed, 1, 14);
        s.w = gemm_size(&seed, 1, 20);
        s.c = gemm_size(&seed, 1, 50);
        s.kernel = gemm_size(&seed, 1, 5);
        s.pad = s.kernel / 2;
        s.oh = gemm_size(&seed, 1, 14);
        s.ow = gemm_size(&seed, 1, 20);
        s.extra = gemm_random(&seed) % 4;
        means_try(i % 2 ? TUNED(conv_dw) : TUNED(conv_pwdw), &s, i % 2 == 0);
    }
}
#endif

const hg_test_case hg_tests_kernel_conv_means[] = {
    {"reference", means_reference},
    {"refuses", means_refuses},
#if defined(TUNED)
    {"tuned", means_tuned},
#endif
    {0},
};
