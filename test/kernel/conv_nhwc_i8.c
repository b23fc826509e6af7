/* conv_nhwc_i8.c - conv.nhwc.i8 against sums of 64-bit products, every variant. */
#include "kernel/conv_codes.h"

#include "kernel/igemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_nhwc_i8[];
extern const hg_kernel hg_kernels_pack_i8[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_nhwc_i8)[], TUNED_DOT(conv_nhwc_i8)[];
#endif

static const conv_codes_case nhwc_i8_cases[] = {
    {1, 5, 6, 4, 16, 1, 1, 1, 1, 1, 0, 0, 1, 1}, /* in place */
    {2, 5, 6, 8, 20, 1, 1, 1, 1, 1, 0, 0, 1, 1}, /* two images */
    {1, 5, 6, 3, 7, 1, 1, 1, 1, 1, 0, 0, 1, 1},  /* ends inside a quad */
    {1, 7, 8, 8, 33, 1, 1, 1, 2, 2, 0, 0, 1, 1}, /* strided */
    {1, 9, 8, 3, 18, 1, 3, 3, 2, 2, 1, 1, 1, 1}, /* a first layer */
    {2, 6, 7, 16, 40, 1, 3, 3, 1, 1, 1, 1, 1, 1},
    {1, 9, 9, 5, 6, 1, 3, 2, 1, 2, 2, 1, 2, 3},    /* dilated */
    {1, 6, 6, 8, 12, 2, 3, 3, 1, 1, 1, 1, 1, 1},   /* grouped */
    {1, 5, 5, 6, 6, 6, 3, 3, 1, 1, 1, 1, 1, 1},    /* one channel a group */
    {1, 1, 50, 10, 24, 1, 1, 3, 1, 2, 0, 1, 1, 1}, /* 1-D */
    {1, 4, 4, 2, 3, 1, 7, 7, 1, 1, 3, 3, 1, 1},    /* larger than the image */
    {0, 4, 4, 2, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1},
    {1, 4, 4, 0, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1},
    {1, 15, 15, 300, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1}, /* a block of few rows */
};

/* x as the table, input 4, says. */
static void nhwc_i8_look_up(gemm_call *c)
{
    uint8_t *x = c->in[0].data;
    for (int64_t i = 0; i < holo_tensor_count(&c->in[0]); i++)
        x[i] = ((const uint8_t *)c->in[4].data)[x[i]];
}

/* v: bit 0 signed x, bit 1 signed w, bit 2 zero points, bit 3 small codes, bit 4 a table for x. */
static void nhwc_i8_try(const hg_kernel *kernel, const conv_codes_case *p, int v)
{
    gemm_call c, pack;
    memset(&c, 0, sizeof c);
    memset(&pack, 0, sizeof pack);
    const int64_t channels = p->c / p->groups, k = channels * p->kh * p->kw;
    const int64_t oh = conv_codes_out(p->h, p->kh, p->stride_h, p->pad_h, p->dil_h);
    const int64_t ow = conv_codes_out(p->w, p->kw, p->stride_w, p->pad_w, p->dil_w);
    const holo_dtype tx = v & 1 ? HOLO_I8 : HOLO_U8, tw = v & 2 ? HOLO_I8 : HOLO_U8;
    pack.in[0] = codes_tensor(tw, 4, (int64_t[]){p->o, channels, p->kh, p->kw},
                              v & 8 ? CODES_SMALL : CODES_EXTREME, 3);
    pack.out = codes_tensor(
        HOLO_I8, 4, (int64_t[]){p->groups, (p->o / p->groups + 15) / 16, (k + 3) / 4 + 1, 64}, 0,
        1);
    pack.param[0] = p->groups;
    gemm_connect(&pack, 1, 1);
    CHECK(gemm_run(&hg_kernels_pack_i8[0], &pack));
    c.in[0] = codes_tensor(tx, 4, (int64_t[]){p->n, p->h, p->w, p->c}, CODES_RANDOM, 5);
    c.in[1] = pack.out;
    if (v & 4) c.in[2] = codes_tensor(tx, 1, (int64_t[]){1}, CODES_RANDOM, 7);
    if (v & 4) c.in[3] = gemm_tensor(HOLO_I32, 1, (int64_t[]){p->o}, 8);
    c.out = gemm_tensor(HOLO_I32, 4, (int64_t[]){p->n, oh, ow, p->o}, 9);
    conv_codes_params(&c, p);
    c.param[9] = (v & 8 ? HG_IGEMM_PAIRS : 0) | (v & 16 ? HG_IGEMM_LOAD : 0);
    if (v & 16) c.in[4] = codes_tensor(tx, 1, (int64_t[]){256}, CODES_RANDOM, 11);
    gemm_connect(&c, v & 16 ? 5 : 4, 10);
    int32_t *w = gemm_alloc((size_t)(p->o * k) * sizeof *w);
    for (int64_t i = 0; i < p->o * k; i++)
        w[i] = (int32_t)(codes_get(&pack.in[0], i) - (tw == HOLO_U8 ? 128 : 0) -
                         (v & 4 ? codes_get(&c.in[3], i / k) : 0));
    const int64_t zero = v & 4 ? codes_get(&c.in[2], 0) : 0;
    const bool ran = gemm_run(kernel, &c);
    if (v & 16) nhwc_i8_look_up(&c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++)
        if (!CHECK_EQ_INT(((int32_t *)c.out.data)[e],
                          conv_codes_oracle(p, &c.in[0], zero, w, oh, ow, e)))
            break;
    free(w);
    free(pack.in[0].data);
    gemm_free(&c);
}

static void nhwc_i8_all(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(nhwc_i8_cases); i++)
        for (int v = 0; v < 32; v += i + 1 == HG_COUNT(nhwc_i8_cases) ? 5 : 1)
            if (v < 16 || (nhwc_i8_cases[i].pad_h == 0 && nhwc_i8_cases[i].pad_w == 0))
                nhwc_i8_try(k, &nhwc_i8_cases[i], v);
}

static void nhwc_i8_matches_oracle(void)
{
    nhwc_i8_all(hg_kernels_conv_nhwc_i8);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static int32_t nhwc_i8_space[512];

static void nhwc_i8_good(gemm_call *c)
{
    static const conv_codes_case p = {1, 4, 4, 6, 4, 2, 3, 3, 1, 1, 1, 1, 1, 1};
    c->in[0] = (holo_tensor){nhwc_i8_space, {1, 4, 4, 6}, 4, HOLO_U8};
    c->in[1] = (holo_tensor){nhwc_i8_space, {2, 1, 8, 64}, 4, HOLO_I8};
    c->in[2] = (holo_tensor){nhwc_i8_space, {0}, 0, HOLO_U8};
    c->in[3] = (holo_tensor){nhwc_i8_space, {4}, 1, HOLO_I32};
    c->out = (holo_tensor){nhwc_i8_space, {1, 4, 4, 4}, 4, HOLO_I32};
    conv_codes_params(c, &p);
    gemm_connect(c, 4, 10);
}

#define NHWC_I8_SPOIL(name, ...)                                                                   \
    static void nhwc_i8_spoil_##name(gemm_call *c)                                                 \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
NHWC_I8_SPOIL(params, c->args.n_param = 9)
NHWC_I8_SPOIL(type_w, c->in[1].dtype = HOLO_U8)
NHWC_I8_SPOIL(type_x, c->in[0].dtype = HOLO_F32)
NHWC_I8_SPOIL(rank_w, c->in[1].rank = 3)
NHWC_I8_SPOIL(groups, c->param[8] = 0)
NHWC_I8_SPOIL(form, c->param[9] = -1)
NHWC_I8_SPOIL(divide, c->param[8] = 3)
NHWC_I8_SPOIL(large, c->param[0] = c->param[1] = 1 << 30; c->in[0].dim[3] = 1 << 30;
              c->in[0].dim[0] = c->out.dim[0] = 0)
NHWC_I8_SPOIL(group_dim, c->in[1].dim[0] = 1)
NHWC_I8_SPOIL(quads, c->in[1].dim[2] = 7)
NHWC_I8_SPOIL(zeros, c->in[2].rank = 1; c->in[2].dim[0] = 2)
NHWC_I8_SPOIL(padding, c->param[9] = HG_IGEMM_LOAD; c->args.n_in = 5;
              c->in[4] = (holo_tensor){nhwc_i8_space, {256}, 1, HOLO_U8})
#undef NHWC_I8_SPOIL

static const gemm_bad nhwc_i8_bad[] = {
    {"parameters", nhwc_i8_spoil_params, HOLO_E_FORMAT},
    {"input 1 has type", nhwc_i8_spoil_type_w, HOLO_E_TYPE},
    {"input 0 has type", nhwc_i8_spoil_type_x, HOLO_E_TYPE},
    {"packed weights has rank", nhwc_i8_spoil_rank_w, HOLO_E_SHAPE},
    {"groups is 0", nhwc_i8_spoil_groups, HOLO_E_ARG},
    {"form is -1", nhwc_i8_spoil_form, HOLO_E_ARG},
    {"3 groups do not divide", nhwc_i8_spoil_divide, HOLO_E_SHAPE},
    {"is too large", nhwc_i8_spoil_large, HOLO_E_SHAPE},
    {"packed weights have 1 groups", nhwc_i8_spoil_group_dim, HOLO_E_SHAPE},
    {"dimension 2 of the packed codes is 7", nhwc_i8_spoil_quads, HOLO_E_SHAPE},
    {"2 zero points", nhwc_i8_spoil_zeros, HOLO_E_SHAPE},
    {"a window reaches beyond the input", nhwc_i8_spoil_padding, HOLO_E_SHAPE},
};

static void nhwc_i8_refuses(void)
{
    gemm_refuse(hg_kernels_conv_nhwc_i8, nhwc_i8_good, nhwc_i8_bad, HG_COUNT(nhwc_i8_bad));
    gemm_call c = {0};
    hg_cost cost = {0};
    nhwc_i8_good(&c);
    hg_kernels_conv_nhwc_i8->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 16 * 4 * 27, 0);
}

#if defined(TUNED)
static void nhwc_i8_tuned(void)
{
    if (!tuned_runs()) SKIP("not for this CPU");
    nhwc_i8_all(TUNED(conv_nhwc_i8));
}

static void nhwc_i8_tuned_dot(void)
{
    if (!tuned_dot_runs()) SKIP("not for this CPU");
    nhwc_i8_all(TUNED_DOT(conv_nhwc_i8));
}
#endif

const hg_test_case hg_tests_kernel_conv_nhwc_i8[] = {
    {"matches_oracle", nhwc_i8_matches_oracle},
    {"refuses", nhwc_i8_refuses},
#if defined(TUNED)
    {"tuned", nhwc_i8_tuned},
    {"tuned_dot", nhwc_i8_tuned_dot},
#endif
    {0},
};
