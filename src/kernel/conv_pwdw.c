/* conv_pwdw.c - conv.pwdw: a 1x1 convolution, an activation and a depthwise 2-D convolution,
 * channels last. The map between them, often several times as large as what goes in and comes out,
 * is never stored.
 *
 *   in[0]  X [N, H, W, C] f32
 *   in[1]  W [1, P, C, 16] f32 or f16, made by pack.conv; P = ceil(E / 16)
 *   in[2]  V [KH*KW, E] f32 or f16, made by pack.dw
 *   in[3-6] bias, slope, gain, lift [.., E] f32 of the activation, or absent (epilogue.h)
 *   in[7+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w of the depthwise one;
 *          activation (hg_epilogue_act), low, high, gate_scale, gate_shift, scale, shift, factor,
 *          offset (epilogue.h)
 *   out[0] Y [N, OH, OW, E] f32 (any type with an epilogue)
 *   out[1] means of its rows (conv_means.h), or absent
 *
 * With t = what hg_epilogue_simple makes of x W, padded with zeros: y = sum over the taps of t V.
 */
#include "kernel/conv_pwdw.h"

#include "base/half.h"
#include "isa/lane_math.h"
#include "kernel/conv_means.h"
#include "kernel/pack.h"

static holo_status conv_pwdw_check_columns(const hg_args *a, holo_error *e, int64_t inner)
{
    static const char *const name[HG_CONV_PWDW_N_COLUMNS] = {"bias", "slope", "gain", "lift"};
    for (uint32_t i = 0; i < HG_CONV_PWDW_N_COLUMNS; i++) {
        const uint32_t k = HG_CONV_PWDW_COLUMNS + i;
        if (!hg_args_has(a, k)) continue;
        const holo_tensor *t = &a->in[k];
        HG_TRY(hg_check_in_type(a, e, k, HG_TYPE_BIT(HOLO_F32)));
        HG_REQUIRE(e, holo_tensor_count(t) == inner && t->rank >= 1 && t->dim[t->rank - 1] == inner,
                   HOLO_E_SHAPE, "%s is not a vector of %lld values", name[i], (long long)inner);
    }
    return HOLO_OK;
}

holo_status hg_conv_pwdw_check(const hg_args *a, holo_error *e)
{
    const hg_types weights = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16);
    HG_TRY(hg_check_counts(a, e, 3, -1, hg_conv_has_means(a) ? 2 : 1, HG_CONV_PWDW_PARAMS));
    HG_TRY(hg_check_in_type(a, e, 1, weights));
    HG_TRY(hg_check_in_type(a, e, 2, weights));
    HG_TRY(hg_conv2d_check(a, e, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 4, 4));
    HG_TRY(hg_check_rank(&a->in[2], e, "depthwise weights", 2, 2));
    HG_TRY(hg_check_param(a, e, HG_CONV_PWDW_ACT, "activation", HG_EPILOGUE_LINEAR,
                          HG_EPILOGUE_SIGMOID));
    const int64_t inner = a->out[0].dim[3], taps = a->param[0] * a->param[1];
    const int64_t expected[4] = {1, hg_panels(inner), a->in[0].dim[3], HG_PANEL};
    for (int d = 0; d < 4; d++)
        HG_REQUIRE(e, a->in[1].dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the packed weights is %lld, expected %lld", d,
                   (long long)a->in[1].dim[d], (long long)expected[d]);
    HG_REQUIRE(e, a->in[2].dim[0] == taps, HOLO_E_SHAPE,
               "depthwise weights have %lld taps, expected %lld", (long long)a->in[2].dim[0],
               (long long)taps);
    HG_REQUIRE(e, a->in[2].dim[1] == inner, HOLO_E_SHAPE,
               "depthwise weights have %lld channels, expected %lld", (long long)a->in[2].dim[1],
               (long long)inner);
    const int64_t *x = a->in[0].dim;
    int64_t pixels;
    HG_REQUIRE(e, hg_mul_i64(hg_max(1, x[1]), hg_max(1, x[2]), &pixels) && pixels < INT64_MAX >> 8,
               HOLO_E_SHAPE, "a map of %lld x %lld pixels is too large", (long long)x[1],
               (long long)x[2]);
    HG_TRY(conv_pwdw_check_columns(a, e, inner));
    HG_TRY(hg_conv_means_check(a, e));
    return hg_epilogue_check(a, e, HG_CONV_PWDW_FIRST_EXTRA, 1, HOLO_F32);
}

static const float *conv_pwdw_column(const hg_args *a, uint32_t i)
{
    return hg_args_has(a, HG_CONV_PWDW_COLUMNS + i) ? a->in[HG_CONV_PWDW_COLUMNS + i].data : NULL;
}

static float conv_pwdw_number(const hg_args *a, uint32_t i)
{
    return (float)hg_param_f64(a, HG_CONV_PWDW_ACT + 1 + i);
}

hg_epilogue_simple hg_conv_pwdw_middle(const hg_args *a)
{
    hg_epilogue_simple m = {.act = (hg_epilogue_act)a->param[HG_CONV_PWDW_ACT],
                            .bias = conv_pwdw_column(a, 0),
                            .slope = conv_pwdw_column(a, 1),
                            .gain = conv_pwdw_column(a, 2),
                            .lift = conv_pwdw_column(a, 3),
                            .low = conv_pwdw_number(a, 0),
                            .high = conv_pwdw_number(a, 1),
                            .gate_scale = conv_pwdw_number(a, 2),
                            .gate_shift = conv_pwdw_number(a, 3),
                            .scale = conv_pwdw_number(a, 4),
                            .shift = conv_pwdw_number(a, 5),
                            .factor = conv_pwdw_number(a, 6),
                            .offset = conv_pwdw_number(a, 7),
                            .cpu = a->cpu};
    if (m.gain == NULL) m.lift = NULL;
    m.is_scaled = m.scale != 1 || m.shift != 0;
    m.is_final = m.factor == 1 && m.offset == 0 && m.gain == NULL;
    return m;
}

void hg_conv_pwdw_cost(const hg_args *a, hg_cost *cost)
{
    const hg_conv2d g = hg_conv2d_of(a);
    cost->flops = 2.0 * (double)g.n * (double)g.o *
                  ((double)g.h * (double)g.w * (double)g.c +
                   (double)g.oh * (double)g.ow * (double)a->in[2].dim[0]);
}

static int64_t conv_pwdw_units(const hg_args *a)
{
    hg_conv2d g = hg_conv2d_of(a);
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : g.n * g.oh;
}

static size_t conv_pwdw_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[3] * sizeof(float), HG_ALIGN);
}

/* A pixel of the map in between, one of the result, and the epilogue's own. */
static size_t conv_pwdw_scratch(const hg_args *a)
{
    return 2 * conv_pwdw_pixel_bytes(a) + hg_epilogue_scratch(a);
}

static float conv_pwdw_weight(const holo_tensor *w, int64_t i)
{
    return w->dtype == HOLO_F32 ? ((const float *)w->data)[i]
                                : hg_f16_to_f32(((const uint16_t *)w->data)[i]);
}

static float conv_pwdw_clamp(const hg_epilogue_simple *m, float x)
{
    if (x < m->low) return m->low; /* a NaN stays */
    return x > m->high ? m->high : x;
}

static float conv_pwdw_act(const hg_epilogue_simple *m, float x, int64_t j)
{
    switch (m->act) {
    case HG_EPILOGUE_LINEAR: return x;
    case HG_EPILOGUE_CLAMP: return conv_pwdw_clamp(m, x);
    case HG_EPILOGUE_SILU: return x / (1 + hg_exp_f32(-x));
    case HG_EPILOGUE_HARDSWISH: return x * conv_pwdw_clamp(m, x * m->gate_scale + m->gate_shift);
    case HG_EPILOGUE_GELU: return x * (1 + hg_erf_f32(x * m->gate_scale));
    case HG_EPILOGUE_GELU_TANH:
        return x * (1 + hg_tanh_f32(x * m->gate_scale + x * x * x * m->gate_shift));
    case HG_EPILOGUE_LEAKY:
        if (x < 0) x *= m->slope == NULL ? m->gate_scale : m->slope[j];
        return conv_pwdw_clamp(m, x);
    case HG_EPILOGUE_TANH: return hg_tanh_f32(x);
    case HG_EPILOGUE_SIGMOID: return hg_sigmoid_f32(x);
    }
    return x;
}

/* What becomes of sum x of channel j. */
static float conv_pwdw_value(const hg_epilogue_simple *m, float x, int64_t j)
{
    if (m->bias != NULL) x += m->bias[j];
    if (m->is_scaled) x = x * m->scale + m->shift;
    x = conv_pwdw_act(m, x, j);
    if (m->is_final) return x;
    x = x * m->factor + m->offset;
    if (m->gain != NULL) x *= m->gain[j];
    return m->lift == NULL ? x : x + m->lift[j];
}

/* All channels of one pixel of the map in between. */
static void conv_pwdw_expand(const hg_args *a, const hg_epilogue_simple *m, const float *x,
                             float *t)
{
    const int64_t c = a->in[0].dim[3], inner = a->out[0].dim[3];
    for (int64_t j = 0; j < inner; j++) {
        const int64_t panel = j / HG_PANEL * c * HG_PANEL + j % HG_PANEL;
        float sum = 0;
        for (int64_t k = 0; k < c; k++)
            sum += x[k] * conv_pwdw_weight(&a->in[1], panel + k * HG_PANEL);
        t[j] = conv_pwdw_value(m, sum, j);
    }
}

static void conv_pwdw_pixel(const hg_args *a, const hg_epilogue_simple *m, const float *image,
                            int64_t oy, int64_t ox, float *t, float *y)
{
    const hg_conv2d g = hg_conv2d_of(a);
    memset(y, 0, (size_t)g.o * sizeof(float));
    for (int64_t i = 0; i < g.kh * g.kw; i++) {
        const int64_t iy = oy * g.stride_h + i / g.kw * g.dil_h - g.pad_top;
        const int64_t ix = ox * g.stride_w + i % g.kw * g.dil_w - g.pad_left;
        if (iy < 0 || iy >= g.h || ix < 0 || ix >= g.w) continue;
        conv_pwdw_expand(a, m, image + (iy * g.w + ix) * g.c, t);
        for (int64_t j = 0; j < g.o; j++)
            y[j] += t[j] * conv_pwdw_weight(&a->in[2], i * g.o + j);
    }
}

static void conv_pwdw_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv2d_of(a);
    const hg_epilogue_simple middle = hg_conv_pwdw_middle(a);
    const size_t pixel = conv_pwdw_pixel_bytes(a);
    char *scratch = r.scratch;
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, HG_CONV_PWDW_FIRST_EXTRA, 1, hg_lane_run, scratch + 2 * pixel);
    for (int64_t u = r.begin; u < r.end; u++) {
        const float *image = (const float *)a->in[0].data + u / g.oh * g.h * g.w * g.c;
        for (int64_t ox = 0; ox < g.ow; ox++) {
            const int64_t row = u * g.ow + ox;
            float *y = a->code == NULL ? (float *)a->out[0].data + row * g.o
                                       : (float *)(void *)(scratch + pixel);
            conv_pwdw_pixel(a, &middle, image, u % g.oh, ox, (float *)(void *)scratch, y);
            const hg_epilogue_tile tile = {.data = y,
                                           .ld = g.o,
                                           .dtype = HOLO_F32,
                                           .row = row,
                                           .rows = 1,
                                           .col = 0,
                                           .cols = g.o};
            if (a->code != NULL) hg_epilogue_run(&ep, &tile);
        }
        hg_conv_means_run(a, u);
    }
}

const hg_kernel hg_kernels_conv_pwdw[] = {
    {.name = "conv.pwdw",
     .check = hg_conv_pwdw_check,
     .units = conv_pwdw_units,
     .scratch = conv_pwdw_scratch,
     .cost = hg_conv_pwdw_cost,
     .run = conv_pwdw_run},
    {0},
};
