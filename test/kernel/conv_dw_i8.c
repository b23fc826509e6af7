/* conv_dw_i8.c - conv.dw.i8 against sums of 64-bit products, every variant. */
#include "kernel/conv_codes.h"

#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_dw_i8[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_dw_i8)[];
#endif
#if defined(__x86_64__)
extern const hg_kernel TUNED_DOT(conv_dw_i8)[];
#endif

static const conv_codes_case dw_i8_cases[] = {
    {1, 7, 8, 32, 32, 32, 3, 3, 1, 1, 1, 1, 1, 1},
    {2, 6, 5, 24, 24, 24, 3, 3, 2, 2, 1, 1, 1, 1},
    {1, 9, 9, 17, 17, 17, 5, 5, 1, 1, 2, 2, 1, 1},
    {1, 8, 8, 5, 5, 5, 3, 3, 1, 1, 2, 2, 2, 2},
    {1, 3, 40, 16, 16, 16, 1, 4, 1, 3, 0, 1, 1, 1},
    {1, 4, 4, 20, 20, 20, 1, 1, 1, 1, 0, 0, 1, 1},
    {1, 2, 3, 700, 700, 700, 3, 3, 1, 1, 1, 1, 1, 1},
    {0, 4, 4, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1},
    {1, 6, 7, 48, 48, 48, 4, 3, 1, 1, 1, 1, 1, 1},
    {1, 5, 9, 33, 33, 33, 2, 3, 1, 1, 0, 0, 1, 1},
    {1, 9, 9, 18, 18, 18, 3, 8, 1, 1, 1, 3, 2, 1},
    {1, 9, 12, 20, 20, 20, 3, 3, 2, 2, 0, 0, 1, 1},
    {2, 7, 11, 50, 50, 50, 3, 3, 1, 2, 2, 3, 2, 1},
};

/* v: bit 0 signed x, bit 1 signed w, bits 2 and 3: one zero point of w, or one a channel. */
static void dw_i8_try(const hg_kernel *kernel, const conv_codes_case *p, int v)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    const int64_t taps = p->kh * p->kw, zeros = v & 8 ? p->c : 1;
    const int64_t oh = conv_codes_out(p->h, p->kh, p->stride_h, p->pad_h, p->dil_h);
    const int64_t ow = conv_codes_out(p->w, p->kw, p->stride_w, p->pad_w, p->dil_w);
    const holo_dtype tx = v & 1 ? HOLO_I8 : HOLO_U8, tw = v & 2 ? HOLO_I8 : HOLO_U8;
    c.in[0] = codes_tensor(tx, 4, (int64_t[]){p->n, p->h, p->w, p->c}, CODES_EXTREME, 5);
    c.in[1] = codes_tensor(tw, 2, (int64_t[]){taps, p->c}, CODES_EXTREME, 6);
    if (v & 4) c.in[2] = codes_tensor(tx, 1, (int64_t[]){1}, CODES_RANDOM, 7);
    if (v & 4) c.in[3] = codes_tensor(tw, 1, (int64_t[]){zeros}, CODES_EXTREME, 8);
    c.out = gemm_tensor(HOLO_I32, 4, (int64_t[]){p->n, oh, ow, p->o}, 9);
    conv_codes_params(&c, p);
    gemm_connect(&c, 4, 8);
    int32_t *w = gemm_alloc((size_t)(taps * p->c) * sizeof *w);
    for (int64_t i = 0; i < taps * p->c; i++)
        w[i] = (int32_t)(codes_get(&c.in[1], i % taps * p->c + i / taps) -
                         (v & 4 ? codes_get(&c.in[3], zeros == 1 ? 0 : i / taps) : 0));
    const int64_t zero = v & 4 ? codes_get(&c.in[2], 0) : 0;
    const bool ran = gemm_run(kernel, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++)
        if (!CHECK_EQ_INT(((int32_t *)c.out.data)[e],
                          conv_codes_oracle(p, &c.in[0], zero, w, oh, ow, e)))
            break;
    free(w);
    gemm_free(&c);
}

/* An i32 bias and a scale for each channel. */
static void dw_i8_epilogue_on(const hg_kernel *kernel)
{
    const conv_codes_case p = {1, 6, 7, 33, 33, 33, 3, 3, 1, 1, 1, 1, 1, 1};
    gemm_call c;
    gemm_code code;
    int32_t w[9 * 33];
    memset(&c, 0, sizeof c);
    c.in[0] = codes_tensor(HOLO_U8, 4, (int64_t[]){1, 6, 7, 33}, CODES_RANDOM, 5);
    c.in[1] = codes_tensor(HOLO_I8, 2, (int64_t[]){9, 33}, CODES_RANDOM, 6);
    c.in[4] = gemm_tensor(HOLO_I32, 1, (int64_t[]){33}, 21);
    c.in[5] = gemm_tensor(HOLO_F32, 1, (int64_t[]){33}, 22);
    c.out = gemm_tensor(HOLO_F32, 4, (int64_t[]){1, 6, 7, 33}, 9);
    conv_codes_params(&c, &p);
    gemm_connect(&c, 6, 8);
    codes_code_scale(&code);
    c.args.code = &code.code;
    for (int64_t i = 0; i < 9 * 33; i++)
        w[i] = (int32_t)codes_get(&c.in[1], i % 9 * 33 + i / 9);
    const bool ran = gemm_run(kernel, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        const int32_t sum = conv_codes_oracle(&p, &c.in[0], 0, w, 6, 7, e);
        const float expected = (float)(sum + ((const int32_t *)c.in[4].data)[e % 33]) *
                               ((const float *)c.in[5].data)[e % 33];
        if (!CHECK(((const float *)c.out.data)[e] == expected)) break;
    }
    gemm_free(&c);
}

/* Codes that the kernel makes of its sums at once. */
static void dw_i8_requant_on(const hg_kernel *kernel, const conv_codes_case *p, int v)
{
    const codes_requant how = {.is_signed = (v & 2) != 0, .cuts = (v & 1) != 0};
    const int64_t taps = p->kh * p->kw;
    const int64_t oh = conv_codes_out(p->h, p->kh, p->stride_h, p->pad_h, p->dil_h);
    const int64_t ow = conv_codes_out(p->w, p->kw, p->stride_w, p->pad_w, p->dil_w);
    gemm_call c;
    gemm_code code;
    memset(&c, 0, sizeof c);
    c.in[0] = codes_tensor(v & 4 ? HOLO_I8 : HOLO_U8, 4, (int64_t[]){p->n, p->h, p->w, p->c},
                           CODES_RANDOM, 5);
    c.in[1] = codes_tensor(HOLO_I8, 2, (int64_t[]){taps, p->c}, CODES_RANDOM, 6);
    c.in[2] = codes_tensor(c.in[0].dtype, 1, (int64_t[]){1}, CODES_RANDOM, 7);
    codes_requant_columns(&c.in[4], &c.in[5], p->c);
    c.out =
        codes_tensor(how.is_signed ? HOLO_I8 : HOLO_U8, 4, (int64_t[]){p->n, oh, ow, p->c}, 0, 9);
    conv_codes_params(&c, p);
    gemm_connect(&c, 6, 8);
    codes_code_requant(&code, &how);
    c.args.code = &code.code;
    int32_t *w = gemm_alloc((size_t)(taps * p->c) * sizeof *w);
    for (int64_t i = 0; i < taps * p->c; i++)
        w[i] = (int32_t)codes_get(&c.in[1], i % taps * p->c + i / taps);
    const bool ran = gemm_run(kernel, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        const int32_t sum = conv_codes_oracle(p, &c.in[0], codes_get(&c.in[2], 0), w, oh, ow, e);
        const int expected = codes_requant_one(&how, sum, ((const int32_t *)c.in[4].data)[e % p->c],
                                               ((const float *)c.in[5].data)[e % p->c], 0);
        if (!CHECK_EQ_INT(codes_get(&c.out, e), expected)) break;
    }
    free(w);
    gemm_free(&c);
}

static void dw_i8_all(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(dw_i8_cases); i++)
        for (int v = 0; v < 8; v++)
            dw_i8_requant_on(k, &dw_i8_cases[i], v);
    for (size_t i = 0; i < HG_COUNT(dw_i8_cases); i++)
        for (int v = 0; v < 16; v++)
            dw_i8_try(k, &dw_i8_cases[i], v);
    dw_i8_epilogue_on(k);
}

static void dw_i8_matches_oracle(void)
{
    dw_i8_all(hg_kernels_conv_dw_i8);
}

static int32_t dw_i8_space[512];

static void dw_i8_good(gemm_call *c)
{
    static const conv_codes_case p = {1, 4, 4, 6, 6, 6, 3, 3, 1, 1, 1, 1, 1, 1};
    c->in[0] = (holo_tensor){dw_i8_space, {1, 4, 4, 6}, 4, HOLO_U8};
    c->in[1] = (holo_tensor){dw_i8_space, {9, 6}, 2, HOLO_I8};
    c->in[2] = (holo_tensor){dw_i8_space, {1}, 1, HOLO_U8};
    c->in[3] = (holo_tensor){dw_i8_space, {6}, 1, HOLO_I8};
    c->out = (holo_tensor){dw_i8_space, {1, 4, 4, 6}, 4, HOLO_I32};
    conv_codes_params(c, &p);
    gemm_connect(c, 4, 8);
}

#define DW_I8_SPOIL(name, ...)                                                                     \
    static void dw_i8_spoil_##name(gemm_call *c)                                                   \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
DW_I8_SPOIL(params, c->args.n_param = 9)
DW_I8_SPOIL(type_w, c->in[1].dtype = HOLO_F32)
DW_I8_SPOIL(type_x, c->in[0].dtype = HOLO_F32)
DW_I8_SPOIL(rank_w, c->in[1].rank = 3)
DW_I8_SPOIL(channels, c->out.dim[3] = 5)
DW_I8_SPOIL(taps, c->in[1].dim[0] = 8)
DW_I8_SPOIL(zero_type, c->in[2].dtype = HOLO_I8)
DW_I8_SPOIL(zeros, c->in[2].dim[0] = 2)
DW_I8_SPOIL(zero_w, c->in[3].dim[0] = 5)
DW_I8_SPOIL(type_out, c->out.dtype = HOLO_U8)
#undef DW_I8_SPOIL

static const gemm_bad dw_i8_bad[] = {
    {"parameters", dw_i8_spoil_params, HOLO_E_FORMAT},
    {"input 1 has type", dw_i8_spoil_type_w, HOLO_E_TYPE},
    {"input 0 has type", dw_i8_spoil_type_x, HOLO_E_TYPE},
    {"packed weights has rank", dw_i8_spoil_rank_w, HOLO_E_SHAPE},
    {"output has 5 channels", dw_i8_spoil_channels, HOLO_E_SHAPE},
    {"weights are 8 x 6", dw_i8_spoil_taps, HOLO_E_SHAPE},
    {"zero point has type", dw_i8_spoil_zero_type, HOLO_E_TYPE},
    {"2 zero points", dw_i8_spoil_zeros, HOLO_E_SHAPE},
    {"5 zero points", dw_i8_spoil_zero_w, HOLO_E_SHAPE},
    {"without an epilogue", dw_i8_spoil_type_out, HOLO_E_TYPE},
};

static void dw_i8_refuses(void)
{
    gemm_refuse(hg_kernels_conv_dw_i8, dw_i8_good, dw_i8_bad, HG_COUNT(dw_i8_bad));
    gemm_call c = {0};
    hg_cost cost = {0};
    dw_i8_good(&c);
    hg_kernels_conv_dw_i8->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 96 * 9, 0);
}

#if defined(TUNED)
static void dw_i8_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    dw_i8_all(TUNED(conv_dw_i8));
}
#endif

#if defined(__x86_64__)
static void dw_i8_tuned_dot(void)
{
    if (!tuned_dot_runs()) SKIP("not for this CPU");
    dw_i8_all(TUNED_DOT(conv_dw_i8));
}
#endif

const hg_test_case hg_tests_kernel_conv_dw_i8[] = {
    {"matches_oracle", dw_i8_matches_oracle},
    {"refuses", dw_i8_refuses},
#if defined(TUNED)
    {"tuned", dw_i8_tuned},
#endif
#if defined(__x86_64__)
    {"tuned_dot", dw_i8_tuned_dot},
#endif
    {0},
};
