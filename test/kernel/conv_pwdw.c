/* conv_pwdw.c - conv.pwdw against a double-precision oracle, every variant. */
#include "kernel/gemm.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_conv_pwdw[];
#if defined(TUNED)
extern const hg_kernel TUNED(conv_pwdw)[];
#endif

enum {
    PWDW_LINEAR,
    PWDW_CLAMP,
    PWDW_SILU,
    PWDW_HARDSWISH,
    PWDW_GELU,
    PWDW_GELU_TANH,
    PWDW_LEAKY,
    PWDW_TANH,
    PWDW_SIGMOID,
    PWDW_ACTS
};

/* Inputs that have a value for each channel, parameters, a bit for each of what comes beside the
 * activation: every case has another set. */
enum { PWDW_COLUMNS = 4, PWDW_EXTRA = 3 + PWDW_COLUMNS, PWDW_PARAMS = 17 };
enum { PWDW_HAS_BIAS = 1, PWDW_HAS_SLOPE = 2, PWDW_HAS_GAIN = 4, PWDW_HAS_LIFT = 8 };
enum { PWDW_HAS_NUMBERS = 16, PWDW_WITHS = 32 };

typedef struct pwdw_sizes {
    int64_t n, h, w, c, inner, oh, ow;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w;
} pwdw_sizes;

static void pwdw_make(gemm_call *c, const pwdw_sizes *s, int act, holo_dtype dtype, int with)
{
    const bool is_gelu = act == PWDW_GELU || act == PWDW_GELU_TANH;
    const double gate[2] = {is_gelu ? 0.75 : 0.25, is_gelu ? 0.03125 : 0.5};
    const double rest[4] = {1.25, -0.25, 0.75, 0.5}, usual[4] = {1, 0, 1, 0};
    const int64_t panels = (s->inner + 15) / 16;
    memset(c, 0, sizeof *c);
    c->in[0] = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->h, s->w, s->c}, 1);
    c->in[1] = gemm_tensor(dtype, 4, (int64_t[]){1, panels, s->c, 16}, 2);
    c->in[2] = gemm_tensor(dtype, 2, (int64_t[]){s->kh * s->kw, s->inner}, 3);
    for (uint32_t i = 0; i < PWDW_COLUMNS; i++)
        if ((with >> i & 1) != 0)
            c->in[3 + i] = gemm_tensor(HOLO_F32, 2, (int64_t[]){1, s->inner}, 4 + i);
    c->out = gemm_tensor(HOLO_F32, 4, (int64_t[]){s->n, s->oh, s->ow, s->inner}, 5);
    memcpy(c->param, &s->kh, 8 * sizeof(int64_t));
    c->param[8] = act;
    gemm_set_f64(c, 9, act == PWDW_CLAMP || act == PWDW_LEAKY ? -0.5 : 0);
    gemm_set_f64(c, 10, 1);
    gemm_set_f64(c, 11, gate[0]);
    gemm_set_f64(c, 12, gate[1]);
    for (uint32_t i = 0; i < 4; i++)
        gemm_set_f64(c, 13 + i, with & PWDW_HAS_NUMBERS ? rest[i] : usual[i]);
    gemm_connect(c, PWDW_EXTRA, PWDW_PARAMS);
}

static double pwdw_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double pwdw_act(int64_t act, double x, double slope)
{
    switch (act) {
    case PWDW_CLAMP: return pwdw_clamp(x, -0.5, 1);
    case PWDW_SILU: return x / (1 + exp(-x));
    case PWDW_HARDSWISH: return x * pwdw_clamp(x * 0.25 + 0.5, 0, 1);
    case PWDW_GELU: return x * (1 + erf(x * 0.75));
    case PWDW_GELU_TANH: return x * (1 + tanh(x * 0.75 + x * x * x * 0.03125));
    case PWDW_LEAKY: return pwdw_clamp(x < 0 ? x * slope : x, -0.5, 1);
    case PWDW_TANH: return tanh(x);
    case PWDW_SIGMOID: return 1 / (1 + exp(-x));
    default: return x;
    }
}

/* A value for each channel; `usual` where there are none. */
static double pwdw_column(const gemm_call *c, uint32_t i, int64_t channel, double usual)
{
    return c->in[3 + i].dtype == HOLO_NONE ? usual : gemm_get(&c->in[3 + i], channel);
}

/* Value of the map in between, and how far an implementation may be from it. */
static double pwdw_inner(const gemm_call *c, const pwdw_sizes *s, int64_t pixel, int64_t channel,
                         double *error)
{
    double sum = 0, sum_abs = 0;
    for (int64_t k = 0; k < s->c; k++) {
        const double p = gemm_get(&c->in[0], pixel * s->c + k) *
                         gemm_get(&c->in[1], (channel / 16 * s->c + k) * 16 + channel % 16);
        sum += p;
        sum_abs += fabs(p);
    }
    const double bias = pwdw_column(c, 0, channel, 0), slope = pwdw_column(c, 1, channel, 0.25);
    const bool has_gain = c->in[5].dtype != HOLO_NONE;
    const double gain = pwdw_column(c, 2, channel, 1);
    const double lift = has_gain ? pwdw_column(c, 3, channel, 0) : 0;
    double number[4];
    for (int i = 0; i < 4; i++)
        memcpy(&number[i], &c->param[13 + i], sizeof number[i]);
    sum = (sum + bias) * number[0] + number[1];
    sum_abs = (sum_abs + fabs(bias)) * fabs(number[0]) + fabs(number[1]);
    /* no activation here is steeper than 3 */
    const double value = pwdw_act(c->param[8], sum, slope);
    const double inner = value * number[2] + number[3], steep = fabs(number[2] * gain);
    *error = steep * (3 * (double)(s->c + 6) * 0x1p-24 * sum_abs + 10 * 0x1p-24 * fabs(sum) +
                      4 * 0x1p-24) +
             4 * 0x1p-24 * (fabs(inner * gain) + fabs(number[3] * gain) + fabs(lift));
    return inner * gain + lift;
}

static bool pwdw_check(const gemm_call *c, const pwdw_sizes *s, const char *what, int64_t element)
{
    const int64_t channel = element % s->inner, ox = element / s->inner % s->ow;
    const int64_t oy = element / s->inner / s->ow % s->oh,
                  image = element / s->inner / s->ow / s->oh;
    double sum = 0, bound = 1e-30;
    for (int64_t t = 0; t < s->kh * s->kw; t++) {
        const int64_t y = oy * s->stride_h + t / s->kw * s->dil_h - s->pad_top;
        const int64_t x = ox * s->stride_w + t % s->kw * s->dil_w - s->pad_left;
        if (y < 0 || y >= s->h || x < 0 || x >= s->w) continue;
        double error;
        const double value = pwdw_inner(c, s, (image * s->h + y) * s->w + x, channel, &error);
        const double weight = gemm_get(&c->in[2], t * s->inner + channel);
        sum += value * weight;
        bound += fabs(weight) * (error + (double)(s->kh * s->kw + 4) * 0x1p-24 * fabs(value));
    }
    const double got = gemm_get(&c->out, element);
    if (fabs(got - sum) <= bound) return true;
    hg_test_fail(__FILE__, __LINE__, "%s: element %lld is %.9g, expected %.9g +- %.3g", what,
                 (long long)element, got, sum, bound);
    return false;
}

static void pwdw_try(const hg_kernel *k, const char *what, const pwdw_sizes *s, int act,
                     holo_dtype dtype, int with)
{
    gemm_call c;
    pwdw_make(&c, s, act, dtype, with);
    const bool ran = gemm_run(k, &c);
    const int64_t count = holo_tensor_count(&c.out);
    for (int64_t e = 0; ran && e < count; e++)
        if (!pwdw_check(&c, s, what, e)) break;
    gemm_free(&c);
}

/* clang-format off */
static const pwdw_sizes pwdw_table[] = {
    /* n  h   w   c  inner oh ow  kernel stride  pad    dil */
    {1,  5,  6,  3,  16,  5,  6,  3, 3,  1, 1,  1, 1,  1, 1},
    {2,  9, 14,  5,  40,  9, 14,  3, 3,  1, 1,  1, 1,  1, 1},
    {1, 13, 15,  8,  17,  7,  8,  3, 3,  2, 2,  1, 1,  1, 1}, /* a panel with one channel */
    {1, 11, 17,  4,  28, 11, 17,  5, 5,  1, 1,  2, 2,  1, 1},
    {1, 11, 17,  4,  19,  6,  9,  5, 5,  2, 2,  2, 2,  1, 1},
    {1,  9,  9,  6,   9,  9,  9,  3, 3,  1, 1,  2, 2,  2, 2},
    {1,  7,  7,  2,   3,  7,  7,  3, 3,  1, 1,  1, 1,  1, 1},
    {1, 60, 90,  2,  16, 60, 90,  3, 3,  1, 1,  1, 1,  1, 1}, /* several bands and blocks */
    {1, 41, 12,  4,  40, 41, 12,  3, 3,  1, 1,  1, 1,  1, 1}, /* blocks that a range joins or cuts */
    {1, 50, 50, 70,  20, 25, 25,  3, 3,  2, 2,  1, 1,  1, 1}, /* blocks too large for that */
    {1, 61, 90,  2,  16, 31, 45,  3, 3,  2, 2,  1, 1,  1, 1},
    {1,  4, 1700, 1, 16,  4, 1700, 3, 3, 1, 1,  1, 1,  1, 1}, /* one row fills the buffer */
    {1, 60, 90,  3,  48, 60, 90,  3, 3,  1, 1,  1, 1,  1, 1}, /* an odd number of panels */
    {1, 14, 15,  7,  60,  7,  8,  5, 5,  2, 2,  1, 2,  1, 1},
    {1, 20, 20,  3,  10,  6,  5,  3, 3,  2, 3, -3, -2, 1, 1}, /* negative padding crops */
    {1,  4,  4,  3,   8, 10,  9,  3, 3,  1, 1,  1, 1,  1, 1}, /* output reaches far outside */
    {1,  4,  4,  3,   8,  3,  3,  3, 3,  1, 1, 40, 90, 1, 1}, /* nothing inside */
    {1, 30,  5,  3,   8,  4,  5,  2, 2,  9, 1,  0, 0,  1, 1}, /* lines that nobody reads */
    {1,  5,  5,  0,   8,  5,  5,  3, 3,  1, 1,  1, 1,  1, 1},
    {1,  5,  5,  4,   0,  5,  5,  3, 3,  1, 1,  1, 1,  1, 1},
    {0,  5,  5,  4,   8,  5,  5,  3, 3,  1, 1,  1, 1,  1, 1},
    {1,  0,  5,  4,   8,  5,  5,  3, 3,  1, 1,  1, 1,  1, 1},
    {1,  5,  0,  4,   8,  5,  5,  3, 3,  1, 1,  1, 1,  1, 1},
};
/* clang-format on */

static void pwdw_table_on(const hg_kernel *k)
{
    for (size_t i = 0; i < HG_COUNT(pwdw_table); i++)
        for (int act = 0; act < PWDW_ACTS; act++) {
            char what[60];
            const int with = ((int)i * PWDW_ACTS + act) * 5 % PWDW_WITHS;
            snprintf(what, sizeof what, "case %zu, activation %d, with %d", i, act, with);
            pwdw_try(k, what, &pwdw_table[i], act, act % 2 ? HOLO_F16 : HOLO_F32, with);
        }
}

static void pwdw_matches_oracle(void)
{
    pwdw_table_on(hg_kernels_conv_pwdw);
}

/* With an epilogue: the result without one, a bias and a clamp, then also an operand as large as
 * the output, which the interpreter adds when the output is f16. */
static void pwdw_epilogue_on(const hg_kernel *k, holo_dtype type, uint32_t extra, int64_t inner)
{
    const pwdw_sizes s = {1, 12, 10, 4, inner, 12, 10, 3, 3, 1, 1, 1, 1, 1, 1};
    gemm_call plain, c;
    gemm_code code;
    pwdw_make(&plain, &s, PWDW_SILU, HOLO_F32, PWDW_HAS_BIAS);
    pwdw_make(&c, &s, PWDW_SILU, HOLO_F32, PWDW_HAS_BIAS);
    free(c.out.data);
    c.out = gemm_tensor(type, 4, (int64_t[]){1, 12, 10, inner}, 6);
    holo_tensor *own = &c.in[PWDW_EXTRA];
    own[0] = gemm_tensor(HOLO_F32, 1, (int64_t[]){inner}, 7);
    if (extra > 1) own[1] = gemm_tensor(HOLO_F32, 4, (int64_t[]){1, 12, 10, inner}, 8);
    gemm_code_sum(&code, extra);
    gemm_connect(&c, PWDW_EXTRA + extra, PWDW_PARAMS);
    c.args.code = &code.code;
    const bool ran = gemm_run(k, &plain) && gemm_run(k, &c);
    for (int64_t e = 0; ran && e < holo_tensor_count(&c.out); e++) {
        double sum = gemm_get(&plain.out, e) + gemm_get(&own[0], e % inner);
        if (extra > 1) sum += gemm_get(&own[1], e);
        if (!gemm_near("epilogue", &c.out, e, 16, sum < 0 ? 0 : sum, fabs(sum) + 3)) break;
    }
    gemm_free(&plain);
    gemm_free(&c);
}

static void pwdw_epilogues(const hg_kernel *k)
{
    for (int64_t inner = 20; inner <= 60; inner += 20) {
        pwdw_epilogue_on(k, HOLO_F32, 1, inner);
        pwdw_epilogue_on(k, HOLO_F32, 2, inner);
        pwdw_epilogue_on(k, HOLO_F16, 2, inner);
    }
}

static void pwdw_epilogue(void)
{
    pwdw_epilogues(hg_kernels_conv_pwdw);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static double pwdw_space[512];

static void pwdw_good(gemm_call *c)
{
    c->in[0] = (holo_tensor){pwdw_space, {1, 5, 6, 4}, 4, HOLO_F32};
    c->in[1] = (holo_tensor){pwdw_space, {1, 2, 4, 16}, 4, HOLO_F32};
    c->in[2] = (holo_tensor){pwdw_space, {6, 20}, 2, HOLO_F32};
    c->in[3] = (holo_tensor){pwdw_space, {20}, 1, HOLO_F32};
    c->out = (holo_tensor){pwdw_space, {1, 5, 6, 20}, 4, HOLO_F32};
    const int64_t param[PWDW_PARAMS] = {3, 2, 1, 1, 1, 1, 1, 1, PWDW_CLAMP};
    memcpy(c->param, param, sizeof param);
    gemm_connect(c, 4, PWDW_PARAMS);
}

#define PWDW_SPOIL(name, ...)                                                                      \
    static void pwdw_spoil_##name(gemm_call *c)                                                    \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
PWDW_SPOIL(inputs, c->args.n_in = 2)
PWDW_SPOIL(params, c->args.n_param = 16)
PWDW_SPOIL(type_x, c->in[0].dtype = HOLO_F64)
PWDW_SPOIL(type_w, c->in[1].dtype = HOLO_BF16)
PWDW_SPOIL(type_v, c->in[2].dtype = HOLO_BF16)
PWDW_SPOIL(type_bias, c->in[3].dtype = HOLO_F16)
PWDW_SPOIL(rank_w, c->in[1].rank = 3)
PWDW_SPOIL(rank_v, c->in[2].rank = 3)
PWDW_SPOIL(act, c->param[8] = PWDW_ACTS)
PWDW_SPOIL(groups, c->in[1].dim[0] = 2)
PWDW_SPOIL(panels, c->in[1].dim[1] = 1)
PWDW_SPOIL(depth, c->in[1].dim[2] = 5)
PWDW_SPOIL(width, c->in[1].dim[3] = 8)
PWDW_SPOIL(taps, c->param[0] = 2)
PWDW_SPOIL(weights, c->in[2].dim[1] = 19)
PWDW_SPOIL(bias, c->in[3].dim[0] = 19)
PWDW_SPOIL(large, c->in[0].dim[3] = c->in[1].dim[2] = 0;
           c->in[0].dim[1] = c->in[0].dim[2] = INT64_C(1) << 28)
PWDW_SPOIL(gain, c->in[5] = (holo_tensor){pwdw_space, {1, 19}, 2, HOLO_F32}; c->args.n_in = 6)
PWDW_SPOIL(extra, c->args.n_in = 8)
#undef PWDW_SPOIL

static const gemm_bad pwdw_bad[] = {
    {"inputs, expected at least 3", pwdw_spoil_inputs, HOLO_E_FORMAT},
    {"parameters", pwdw_spoil_params, HOLO_E_FORMAT},
    {"input 0 has type", pwdw_spoil_type_x, HOLO_E_TYPE},
    {"input 1 has type", pwdw_spoil_type_w, HOLO_E_TYPE},
    {"input 2 has type", pwdw_spoil_type_v, HOLO_E_TYPE},
    {"input 3 has type", pwdw_spoil_type_bias, HOLO_E_TYPE},
    {"packed weights has rank", pwdw_spoil_rank_w, HOLO_E_SHAPE},
    {"depthwise weights has rank", pwdw_spoil_rank_v, HOLO_E_SHAPE},
    {"activation is 9", pwdw_spoil_act, HOLO_E_ARG},
    {"dimension 0 of the packed weights", pwdw_spoil_groups, HOLO_E_SHAPE},
    {"dimension 1 of the packed weights", pwdw_spoil_panels, HOLO_E_SHAPE},
    {"dimension 2 of the packed weights", pwdw_spoil_depth, HOLO_E_SHAPE},
    {"dimension 3 of the packed weights", pwdw_spoil_width, HOLO_E_SHAPE},
    {"weights have 6 taps, expected 4", pwdw_spoil_taps, HOLO_E_SHAPE},
    {"weights have 19 channels", pwdw_spoil_weights, HOLO_E_SHAPE},
    {"bias is not a vector of 20", pwdw_spoil_bias, HOLO_E_SHAPE},
    {"gain is not a vector of 20", pwdw_spoil_gain, HOLO_E_SHAPE},
    {"too large", pwdw_spoil_large, HOLO_E_SHAPE},
    {"inputs, expected at most 7", pwdw_spoil_extra, HOLO_E_FORMAT},
};

static void pwdw_refuses(void)
{
    gemm_refuse(hg_kernels_conv_pwdw, pwdw_good, pwdw_bad, HG_COUNT(pwdw_bad));
}

static void pwdw_cost_counts(void)
{
    gemm_call c;
    memset(&c, 0, sizeof c);
    pwdw_good(&c);
    hg_cost cost = {0};
    hg_kernels_conv_pwdw->cost(&c.args, &cost);
    CHECK_NEAR(cost.flops, 2 * 5 * 6 * 20 * (4 + 6), 0);
}

/* ---- tuned ------------------------------------------------------------------------------- */

#if defined(TUNED)
/* A map without rows: only padding is seen, and no size of it leaves 64 bits. */
static void pwdw_tuned_empty(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    const hg_kernel *k = TUNED(conv_pwdw);
    gemm_call c = {0};
    holo_error e = {0};
    pwdw_good(&c);
    c.in[0].dim[1] = 0;
    c.in[0].dim[2] = INT64_C(1) << 50;
    c.param[2] = INT32_MAX;
    CHECK_OK(k->check(&c.args, &e), &e);
    CHECK(k->work(&c.args).units > 0);
}

static void pwdw_try_tuned(const char *name, int i, const pwdw_sizes *s)
{
    char what[40];
    snprintf(what, sizeof what, "%s %d", name, i);
    pwdw_try(TUNED(conv_pwdw), what, s, i % PWDW_ACTS, i % 4 ? HOLO_F32 : HOLO_F16,
             i * 7 % PWDW_WITHS);
}

static void pwdw_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    pwdw_table_on(TUNED(conv_pwdw));
    pwdw_epilogues(TUNED(conv_pwdw));
    uint32_t seed = 3;
    for (int i = 0; i < 300; i++) {
        pwdw_sizes s = {.n = gemm_size(&seed, 1, 2), .h = gemm_size(&seed, 1, 14)};
        s.w = gemm_size(&seed, 1, 30);
        s.c = gemm_size(&seed, 1, 9);
        s.inner = gemm_size(&seed, 1, 40);
        s.kh = gemm_size(&seed, 1, 5);
        s.kw = gemm_size(&seed, 1, 5);
        s.stride_h = gemm_size(&seed, 1, 3);
        s.stride_w = gemm_size(&seed, 1, 2);
        s.pad_top = gemm_size(&seed, -2, 4);
        s.pad_left = gemm_size(&seed, -2, 4);
        s.dil_h = gemm_size(&seed, 1, 2);
        s.dil_w = gemm_random(&seed) % 4 == 0 ? 2 : 1;
        s.oh = gemm_size(&seed, 1, 16);
        s.ow = gemm_size(&seed, 1, 30);
        pwdw_try_tuned("random", i, &s);
    }
}

/* Depths of several blocks, and panels that make groups of two and three. */
static void pwdw_tuned_deep(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    uint32_t seed = 4;
    for (int i = 0; i < 40; i++) {
        pwdw_sizes s = {.n = 1, .h = gemm_size(&seed, 1, 6), .w = gemm_size(&seed, 1, 25)};
        s.c = gemm_size(&seed, 1, 2) * gemm_size(&seed, 1, 210);
        s.inner = gemm_size(&seed, 1, 8) * 16 - gemm_size(&seed, 0, 1) * gemm_size(&seed, 0, 15);
        s.kh = s.kw = s.stride_h = s.stride_w = gemm_size(&seed, 1, 2);
        s.pad_top = s.pad_left = gemm_size(&seed, 0, 1);
        s.dil_h = s.dil_w = 1;
        s.oh = gemm_size(&seed, 1, 6);
        s.ow = gemm_size(&seed, 1, 12);
        pwdw_try_tuned("deep", i, &s);
    }
}
#endif

const hg_test_case hg_tests_kernel_conv_pwdw[] = {
    {"matches_oracle", pwdw_matches_oracle},
    {"epilogue", pwdw_epilogue},
    {"refuses", pwdw_refuses},
    {"cost", pwdw_cost_counts},
#if defined(TUNED)
    {"tuned", pwdw_tuned},
    {"tuned_deep", pwdw_tuned_deep},
    {"tuned_empty", pwdw_tuned_empty},
#endif
    {0},
};
