/* conv.c - conv and convtranspose against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv)[];
#endif

enum { CONV_RANK = 4 };

typedef struct conv_sizes {
    int64_t rank;
    int64_t n, c, o, groups;
    int64_t in[CONV_RANK], out[CONV_RANK], kernel[CONV_RANK];
    int64_t stride[CONV_RANK], pad[CONV_RANK], dil[CONV_RANK];
    bool has_bias;
} conv_sizes;

static const hg_kernel *conv_find(const hg_kernel *list, bool transposed)
{
    while (strcmp(list->name, transposed ? "convtranspose" : "conv") != 0)
        list++;
    return list;
}

static void conv_make(gemm_call *c, const conv_sizes *s, bool transposed, holo_dtype dtype)
{
    int64_t x[8] = {s->n, s->c}, y[8] = {s->n, s->o};
    int64_t w[8] = {transposed ? s->c : s->o, (transposed ? s->o : s->c) / s->groups};
    memset(c, 0, sizeof *c);
    c->param[0] = s->rank;
    c->param[1] = s->groups;
    for (int d = 0; d < s->rank; d++) {
        x[2 + d] = s->in[d];
        y[2 + d] = s->out[d];
        w[2 + d] = s->kernel[d];
        c->param[2 + d] = s->stride[d];
        c->param[2 + s->rank + d] = s->pad[d];
        c->param[2 + 2 * s->rank + d] = s->dil[d];
    }
    c->in[0] = gemm_tensor(dtype, 2 + (int)s->rank, x, 1);
    c->in[1] = gemm_tensor(dtype, 2 + (int)s->rank, w, 2);
    if (s->has_bias) c->in[2] = gemm_tensor(dtype, 1, &s->o, 3);
    c->out = gemm_tensor(dtype, 2 + (int)s->rank, y, 4);
    gemm_connect(c, s->has_bias ? 3 : 2, 2 + 3 * (uint32_t)s->rank);
}

/* Flat input position of output position `y` for a tap, or -1. */
static int64_t conv_oracle_at(const conv_sizes *s, bool transposed, int64_t y, int64_t tap)
{
    int64_t at = 0, plane = 1;
    for (int64_t d = s->rank - 1; d >= 0; d--) {
        const int64_t shift = tap % s->kernel[d] * s->dil[d], o = y % s->out[d];
        tap /= s->kernel[d];
        y /= s->out[d];
        int64_t i = o * s->stride[d] + shift - s->pad[d];
        if (transposed) {
            i = o + s->pad[d] - shift;
            if (i < 0 || i % s->stride[d] != 0) return -1;
            i /= s->stride[d];
        }
        if (i < 0 || i >= s->in[d]) return -1;
        at += i * plane;
        plane *= s->in[d];
    }
    return at;
}

static int64_t conv_product(const int64_t *dim, int64_t rank)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dim[d];
    return n;
}

static double conv_oracle(const gemm_call *c, const conv_sizes *s, bool transposed, int64_t element,
                          double *sum_abs)
{
    const int64_t taps = conv_product(s->kernel, s->rank), in = conv_product(s->in, s->rank);
    const int64_t out = conv_product(s->out, s->rank);
    const int64_t o = element / out % s->o, image = element / out / s->o;
    const int64_t group_o = s->o / s->groups, group_c = s->c / s->groups, group = o / group_o;
    double sum = 0;
    *sum_abs = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t at = conv_oracle_at(s, transposed, element % out, tap);
        for (int64_t k = 0; k < group_c && at >= 0; k++) {
            const int64_t channel = group * group_c + k;
            const int64_t w = transposed ? (channel * group_o + o % group_o) * taps + tap
                                         : (o * group_c + k) * taps + tap;
            const double p =
                gemm_get(&c->in[0], (image * s->c + channel) * in + at) * gemm_get(&c->in[1], w);
            sum += p;
            *sum_abs += fabs(p);
        }
    }
    if (s->has_bias) {
        sum += gemm_get(&c->in[2], o);
        *sum_abs += fabs(gemm_get(&c->in[2], o));
    }
    return sum;
}

static int64_t conv_terms(const conv_sizes *s)
{
    return conv_product(s->kernel, s->rank) * s->c / s->groups + 1;
}

static void conv_try(const hg_kernel *list, const char *what, const conv_sizes *s, bool transposed,
                     holo_dtype dtype)
{
    gemm_call c;
    conv_make(&c, s, transposed, dtype);
    const bool ran = gemm_run(conv_find(list, transposed), &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        const double sum = conv_oracle(&c, s, transposed, e, &sum_abs);
        if (!gemm_near(what, &c.out, e, conv_terms(s), sum, sum_abs)) break;
    }
    gemm_free(&c);
}

/* clang-format off */
static const conv_sizes conv_table[] = {
    {1, 2, 3, 5, 1, {20}, {20}, {3}, {1}, {1}, {1}, true},
    {1, 1, 80, 40, 1, {50}, {25}, {3}, {2}, {1}, {1}, true},
    {1, 1, 4, 6, 2, {31}, {15}, {5}, {2}, {3}, {2}, false},
    {2, 1, 3, 7, 1, {6, 7}, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 2, 8, 12, 4, {9, 20}, {5, 10}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false},
    {2, 1, 20, 17, 1, {4, 30}, {4, 30}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, true},
    {2, 1, 50, 9, 1, {5, 18}, {5, 18}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, true},
    {2, 1, 4, 4, 4, {8, 8}, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 3, 4, 1, {9, 9}, {4, 3}, {3, 2}, {2, 3}, {-1, -2}, {1, 1}, false},
    {2, 1, 3, 4, 1, {4, 4}, {9, 21}, {3, 3}, {1, 1}, {4, 6}, {1, 1}, false},
    {3, 1, 4, 5, 1, {4, 5, 6}, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, true},
    {3, 2, 4, 6, 2, {5, 6, 7}, {2, 3, 4}, {2, 3, 1}, {2, 2, 2}, {0, 1, 0}, {1, 1, 1}, false},
    {4, 1, 2, 3, 1, {3, 3, 4, 3}, {2, 2, 3, 3}, {2, 2, 2, 1}, {1, 1, 1, 1}, {0}, {1, 1, 1, 1}, true},
    {2, 1, 0, 3, 1, {4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 0, 2, 3, 1, {4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {0, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {4, 4}, {4, 4}, {0, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {4, 4}, {4, 0}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 200, 1, {3, 3}, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
};

static const conv_sizes transposed_table[] = {
    {1, 2, 3, 5, 1, {9}, {19}, {3}, {2}, {0}, {1}, true},
    {2, 1, 24, 24, 1, {7, 20}, {14, 40}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, true},
    {2, 2, 24, 1, 1, {7, 11}, {14, 22}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, true},
    {2, 1, 10, 6, 2, {8, 12}, {16, 24}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, false},
    {2, 1, 10, 6, 2, {8, 9}, {15, 17}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true},
    {2, 1, 5, 7, 1, {6, 10}, {8, 12}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, false},
    {2, 1, 5, 7, 1, {6, 10}, {23, 30}, {5, 3}, {3, 3}, {0, 0}, {2, 1}, true},
    {2, 1, 5, 3, 1, {6, 10}, {11, 19}, {2, 2}, {2, 2}, {0, 1}, {1, 1}, true},
    {2, 1, 5, 3, 1, {6, 10}, {14, 26}, {2, 3}, {2, 2}, {-2, -3}, {1, 1}, true},
    {2, 1, 400, 3, 1, {3, 10}, {6, 20}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, true},
    {2, 1, 3, 30, 1, {3, 10}, {6, 20}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, true},
    {3, 1, 4, 6, 2, {3, 4, 5}, {6, 8, 10}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}, true},
    {2, 1, 0, 3, 1, {4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {4, 4}, {4, 4}, {3, 0}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {4, 0}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 3, 1, {4, 4}, {4, 0}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {2, 1, 2, 0, 1, {4, 4}, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
};
/* clang-format on */

static void conv_table_on(const hg_kernel *list, holo_dtype dtype, int max_rank)
{
    char what[60];
    for (size_t i = 0; i < HG_COUNT(conv_table); i++) {
        snprintf(what, sizeof what, "conv %zu %s", i, holo_dtype_text(dtype));
        conv_try(list, what, &conv_table[i], false, dtype);
    }
    for (size_t i = 0; i < HG_COUNT(transposed_table); i++) {
        const int64_t rank = transposed_table[i].rank;
        if (max_rank != 0 && rank != max_rank) continue;
        snprintf(what, sizeof what, "transposed %zu %s", i, holo_dtype_text(dtype));
        conv_try(list, what, &transposed_table[i], true, dtype);
    }
}

static void conv_matches_oracle(void)
{
    conv_table_on(hg_kernels_conv, HOLO_F32, 0);
    conv_table_on(hg_kernels_conv, HOLO_F64, 0);
    conv_table_on(hg_kernels_conv, HOLO_F16, 0);
    conv_table_on(hg_kernels_conv, HOLO_BF16, 0);
}

/* The bits of conv.nhwc: products in the order (kernel, channel), then the bias. */
static void conv_exact_bits(void)
{
    const conv_sizes s = {2, 1, 7, 5, 1, {6, 5}, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true};
    gemm_call c;
    conv_make(&c, &s, false, HOLO_F32);
    if (!gemm_run(hg_kernels_conv, &c)) return;
    const float *x = c.in[0].data, *w = c.in[1].data, *bias = c.in[2].data, *out = c.out.data;
    for (int64_t e = 0; e < s.o * 30; e++) {
        volatile float sum = 0;
        for (int64_t tap = 0; tap < 9; tap++) {
            const int64_t at = conv_oracle_at(&s, false, e % 30, tap);
            for (int64_t k = 0; k < s.c && at >= 0; k++) {
                volatile float product = x[k * 30 + at] * w[(e / 30 * s.c + k) * 9 + tap];
                sum = sum + product;
            }
        }
        sum = sum + bias[e / 30];
        if (!CHECK(sum == out[e])) return;
    }
    gemm_free(&c);
}

/* An operand for each channel, one of full size; then max with 0. */
static void conv_epilogue_on(const hg_kernel *list, conv_sizes s, bool transposed, holo_dtype out)
{
    gemm_call c;
    gemm_code code;
    conv_make(&c, &s, transposed, HOLO_F32);
    free(c.out.data);
    const int64_t channel[3] = {s.o, 1, 1};
    int64_t full[8] = {s.n, s.o};
    memcpy(full + 2, s.out, (size_t)s.rank * sizeof(int64_t));
    c.in[3] = gemm_tensor(HOLO_F32, 1 + (int)s.rank, channel, 5);
    c.in[4] = gemm_tensor(HOLO_F32, 2 + (int)s.rank, full, 6);
    c.out = gemm_tensor(out, 2 + (int)s.rank, full, 7);
    gemm_code_sum(&code, 2);
    gemm_connect(&c, 5, 2 + 3 * (uint32_t)s.rank);
    c.args.code = &code.code;
    const bool ran = gemm_run(conv_find(list, transposed), &c);
    const int64_t count = holo_tensor_count(&c.out), plane = conv_product(s.out, s.rank);
    for (int64_t e = 0; ran && e < count; e++) {
        double sum_abs;
        double sum = conv_oracle(&c, &s, transposed, e, &sum_abs);
        const double extra[2] = {gemm_get(&c.in[3], e / plane % s.o), gemm_get(&c.in[4], e)};
        sum += extra[0] + extra[1];
        sum_abs += fabs(extra[0]) + fabs(extra[1]);
        if (!gemm_near("epilogue", &c.out, e, conv_terms(&s), sum < 0 ? 0 : sum, sum_abs)) break;
    }
    gemm_free(&c);
}

static void conv_epilogue_cases(const hg_kernel *list)
{
    const conv_sizes plain = {2,       2,      5,      21,     1,      {9, 10},
                              {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true};
    const conv_sizes turned = {2,        2,      5,      21,     1,      {9, 10},
                               {18, 20}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false};
    conv_epilogue_on(list, plain, false, HOLO_F32);
    conv_epilogue_on(list, plain, false, HOLO_F16);
    conv_epilogue_on(list, turned, true, HOLO_F32);
    conv_epilogue_on(list, turned, true, HOLO_F16);
}

static void conv_epilogue(void)
{
    conv_epilogue_cases(hg_kernels_conv);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double conv_space[1024];

static void conv_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){conv_space, {1, 4, 5, 6}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){conv_space, {6, 2, 3, 3}, 4, HOLO_F32};
    c->in[2] = (holo_tensor){conv_space, {6}, 1, HOLO_F32};
    c->out = (holo_tensor){conv_space, {1, 6, 5, 6}, 4, HOLO_F32};
    const int64_t param[8] = {2, 2, 1, 1, 1, 1, 1, 1};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 3, 8);
}

static void transposed_good(gemm_call *c)
{
    conv_good(c);
    c->in[1] = (holo_tensor){conv_space, {4, 3, 3, 3}, 4, HOLO_F32};
}

#define CONV_SPOIL(name, ...)                                                                      \
    static void conv_spoil_##name(gemm_call *c)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
CONV_SPOIL(no_param, c->args.n_param = 0)
CONV_SPOIL(spatial, c->param[0] = 7)
CONV_SPOIL(params, c->args.n_param = 9)
CONV_SPOIL(inputs, c->args.n_in = 1)
CONV_SPOIL(type_x, c->in[0].dtype = HOLO_I32)
CONV_SPOIL(type_w, c->in[1].dtype = HOLO_I32)
CONV_SPOIL(types, c->in[1].dtype = HOLO_F16)
CONV_SPOIL(type_out, c->out.dtype = HOLO_F64)
CONV_SPOIL(out_string, c->out.dtype = HOLO_STRING)
CONV_SPOIL(rank_x, c->in[0].rank = 3)
CONV_SPOIL(rank_w, c->in[1].rank = 3)
CONV_SPOIL(rank_out, c->out.rank = 3)
CONV_SPOIL(groups, c->param[1] = 0)
CONV_SPOIL(groups_c, c->in[0].dim[1] = 5)
CONV_SPOIL(groups_o, c->out.dim[1] = 7)
CONV_SPOIL(w0, c->in[1].dim[0]++)
CONV_SPOIL(w1, c->in[1].dim[1]++)
CONV_SPOIL(images, c->out.dim[0] = 2)
CONV_SPOIL(stride, c->param[2] = 0)
CONV_SPOIL(pad, c->param[5] = INT64_MIN)
CONV_SPOIL(dilation, c->param[7] = 0)
CONV_SPOIL(reach, c->out.dim[2] = c->in[0].dim[2] = INT64_C(1) << 40; c->param[2] = 1 << 30;
           c->out.dim[0] = c->in[0].dim[0] = 0)
CONV_SPOIL(kernel, c->in[1].dim[2] = INT64_C(1) << 31)
CONV_SPOIL(bias_type, c->in[2].dtype = HOLO_F64)
CONV_SPOIL(bias_int, c->in[2].dtype = HOLO_I32)
CONV_SPOIL(bias_rank, c->in[2].rank = 2)
CONV_SPOIL(bias, c->in[2].dim[0] = 5)
CONV_SPOIL(extra, c->args.n_in = 4)

static const gemm_bad conv_bad[] = {
    {"parameter 0", conv_spoil_no_param, HOLO_E_FORMAT},
    {"number of spatial dimensions is 7", conv_spoil_spatial, HOLO_E_ARG},
    {"parameters, expected 8", conv_spoil_params, HOLO_E_FORMAT},
    {"inputs, expected at least 2", conv_spoil_inputs, HOLO_E_FORMAT},
    {"input 0 has type", conv_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", conv_spoil_type_w, HOLO_E_TYPE},
    {"kernel has type", conv_spoil_types, HOLO_E_TYPE},
    {"output has type", conv_spoil_type_out, HOLO_E_TYPE},
    {"output 0 has type", conv_spoil_out_string, HOLO_E_TYPE},
    {"input has rank", conv_spoil_rank_x, HOLO_E_SHAPE},
    {"kernel has rank", conv_spoil_rank_w, HOLO_E_SHAPE},
    {"output has rank", conv_spoil_rank_out, HOLO_E_SHAPE},
    {"groups is 0", conv_spoil_groups, HOLO_E_ARG},
    {"do not divide 5 input", conv_spoil_groups_c, HOLO_E_SHAPE},
    {"do not divide 7 output", conv_spoil_groups_o, HOLO_E_SHAPE},
    {"kernel dimension 0", conv_spoil_w0, HOLO_E_SHAPE},
    {"kernel dimension 1", conv_spoil_w1, HOLO_E_SHAPE},
    {"output has 2 images", conv_spoil_images, HOLO_E_SHAPE},
    {"stride is 0", conv_spoil_stride, HOLO_E_ARG},
    {"padding is", conv_spoil_pad, HOLO_E_ARG},
    {"dilation is 0", conv_spoil_dilation, HOLO_E_ARG},
    {"with stride 1073741824 is too large", conv_spoil_reach, HOLO_E_SHAPE},
    {"kernel of 2147483648 is too large", conv_spoil_kernel, HOLO_E_SHAPE},
    {"bias has type", conv_spoil_bias_type, HOLO_E_TYPE},
    {"input 2 has type", conv_spoil_bias_int, HOLO_E_TYPE},
    {"bias has rank", conv_spoil_bias_rank, HOLO_E_SHAPE},
    {"bias has 5 elements", conv_spoil_bias, HOLO_E_SHAPE},
    {"inputs, expected at most 3", conv_spoil_extra, HOLO_E_FORMAT},
};

static void conv_refuses_on(const hg_kernel *list)
{
    gemm_refuse(conv_find(list, false), conv_good, conv_bad, HG_COUNT(conv_bad));
    gemm_refuse(conv_find(list, true), transposed_good, conv_bad, HG_COUNT(conv_bad));
}

static void conv_refuses(void)
{
    conv_refuses_on(hg_kernels_conv);
}

/* An epilogue operand that varies along one of several column dims has no single stride. */
static gemm_code conv_code;

static void conv_good_code(gemm_call *c)
{
    conv_good(c);
    gemm_code_sum(&conv_code, 1);
    c->in[3] = (holo_tensor){conv_space, {6, 1, 1}, 3, HOLO_F32};
    c->args.code = &conv_code.code;
    c->args.n_in = 4;
}

CONV_SPOIL(code_column, c->in[3].dim[2] = 6)
#undef CONV_SPOIL

static void conv_refuses_code(void)
{
    static const gemm_bad bad[] = {
        {"along some of the last 2 dimensions", conv_spoil_code_column, HOLO_E_SHAPE}};
    gemm_refuse(hg_kernels_conv, conv_good_code, bad, HG_COUNT(bad));
}

static void conv_cost_counts(void)
{
    gemm_call c;
    hg_cost cost = {0};
    memset(&c, 0, sizeof c);
    conv_good(&c);
    conv_find(hg_kernels_conv, false)->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 6 * 30 * 2 * 9, 0);
    transposed_good(&c);
    conv_find(hg_kernels_conv, true)->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 4 * 30 * 3 * 9, 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
static conv_sizes conv_random(uint32_t *seed, bool transposed)
{
    conv_sizes s = {.rank = 2, .n = gemm_size(seed, 1, 2), .groups = gemm_size(seed, 1, 3)};
    s.c = s.groups * gemm_size(seed, 1, 20);
    s.o = s.groups * gemm_size(seed, 1, 20);
    s.has_bias = gemm_random(seed) & 1;
    for (int d = 0; d < 2; d++) {
        s.kernel[d] = gemm_size(seed, 1, 4);
        s.stride[d] = gemm_size(seed, 1, 3);
        s.pad[d] = gemm_size(seed, -1, 3);
        s.dil[d] = gemm_random(seed) % 3 == 0 ? 2 : 1;
        s.in[d] = gemm_size(seed, 1, 14);
        s.out[d] = gemm_size(seed, 1, transposed ? 30 : 16);
    }
    return s;
}

static void conv_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    conv_table_on(TUNED(conv), HOLO_F32, 2);
    conv_epilogue_cases(TUNED(conv));
    uint32_t seed = 9;
    for (int i = 0; i < 300; i++) {
        const bool transposed = i % 2 == 0;
        const conv_sizes s = conv_random(&seed, transposed);
        char what[40];
        snprintf(what, sizeof what, "random %d", i);
        conv_try(TUNED(conv), what, &s, transposed, HOLO_F32);
    }
}

/* Large enough for several blocks of output rows and channels. */
static void conv_tuned_blocks(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    const conv_sizes s = {2,         1,      6,      30,     1,      {40, 160},
                          {82, 322}, {4, 4}, {2, 2}, {0, 0}, {1, 1}, true};
    conv_try(TUNED(conv), "blocks", &s, true, HOLO_F32);
    const conv_sizes t = {2,        1,      6,      200,    1,      {30, 40},
                          {30, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true};
    conv_try(TUNED(conv), "blocks", &t, false, HOLO_F32);
}

static void conv_tuned_refuses(void)
{
    conv_refuses_on(TUNED(conv));
    gemm_call c;
    memset(&c, 0, sizeof c);
    conv_good(&c);
    c.in[0].dtype = c.in[1].dtype = c.in[2].dtype = c.out.dtype = HOLO_F64;
    CHECK_STATUS(conv_find(TUNED(conv), false)->check(&c.args, NULL), HOLO_E_TYPE);
    memset(&c, 0, sizeof c);
    conv_make(&c, &transposed_table[0], true, HOLO_F32);
    CHECK_STATUS(conv_find(TUNED(conv), true)->check(&c.args, NULL), HOLO_E_UNSUPPORTED);
    gemm_free(&c);
    /* scratch grows with taps times the width of the input */
    memset(&c, 0, sizeof c);
    transposed_good(&c);
    c.in[0].dim[3] = 1 << 20;
    c.out.dim[3] = 1 << 20;
    c.in[1].dim[2] = 9;
    CHECK_STATUS(conv_find(TUNED(conv), true)->check(&c.args, NULL), HOLO_E_UNSUPPORTED);
}
#endif

const hg_test_case hg_tests_kernel_conv[] = {
    {"matches_oracle", conv_matches_oracle},
    {"exact_bits", conv_exact_bits},
    {"epilogue", conv_epilogue},
    {"refuses", conv_refuses},
    {"refuses_code", conv_refuses_code},
    {"cost", conv_cost_counts},
#if defined(TUNED)
    {"tuned", conv_tuned},
    {"tuned_blocks", conv_tuned_blocks},
    {"tuned_refuses", conv_tuned_refuses},
#endif
    {0},
};
