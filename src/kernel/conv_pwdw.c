/* conv_pwdw.c - conv.pwdw: a 1x1 convolution, an activation and a depthwise 2-D convolution,
 * channels last. The map between them, often several times as large as what goes in and comes out,
 * is never stored.
 *
 *   in[0]  X [N, H, W, C] f32
 *   in[1]  W [1, P, C, 16] f32 or f16, made by pack.conv; P = ceil(E / 16)
 *   in[2]  V [KH*KW, E] f32 or f16, made by pack.dw
 *   in[3]  bias [.., E] f32 of the 1x1 convolution, or absent
 *   in[4+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w of the depthwise one;
 *          activation (hg_epilogue_act: linear, clamp, SiLU or hard swish), low, high, gate_scale,
 *          gate_shift (epilogue.h)
 *   out[0] Y [N, OH, OW, E] f32 (any type with an epilogue)
 *   out[1] means of its rows (conv_means.h), or absent
 *
 * With t = act(x W + bias), padded with zeros: y = sum over the taps of t V. */
#include "kernel/conv_pwdw.h"

#include "base/half.h"
#include "isa/lane_math.h"
#include "kernel/conv_means.h"
#include "kernel/pack.h"

static holo_status conv_pwdw_check_bias(const hg_args *a, holo_error *e, int64_t inner)
{
    const holo_tensor *bias = &a->in[3];
    if (!hg_args_has(a, 3)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, 3, HG_TYPE_BIT(HOLO_F32)));
    HG_REQUIRE(e,
               holo_tensor_count(bias) == inner && bias->rank >= 1 &&
                   bias->dim[bias->rank - 1] == inner,
               HOLO_E_SHAPE, "bias is not a vector of %lld values", (long long)inner);
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
                          HG_EPILOGUE_HARDSWISH));
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
    HG_TRY(conv_pwdw_check_bias(a, e, inner));
    HG_TRY(hg_conv_means_check(a, e));
    return hg_epilogue_check(a, e, HG_CONV_PWDW_FIRST_EXTRA, 1, HOLO_F32);
}

hg_epilogue_simple hg_conv_pwdw_middle(const hg_args *a)
{
    return (hg_epilogue_simple){.act = (hg_epilogue_act)a->param[HG_CONV_PWDW_ACT],
                                .bias = hg_args_has(a, 3) ? a->in[3].data : NULL,
                                .is_final = true,
                                .scale = 1,
                                .factor = 1,
                                .low = (float)hg_param_f64(a, HG_CONV_PWDW_ACT + 1),
                                .high = (float)hg_param_f64(a, HG_CONV_PWDW_ACT + 2),
                                .gate_scale = (float)hg_param_f64(a, HG_CONV_PWDW_ACT + 3),
                                .gate_shift = (float)hg_param_f64(a, HG_CONV_PWDW_ACT + 4),
                                .cpu = a->cpu};
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

static float conv_pwdw_act(const hg_epilogue_simple *m, float x)
{
    if (m->act == HG_EPILOGUE_CLAMP) return conv_pwdw_clamp(m, x);
    if (m->act == HG_EPILOGUE_SILU) return x / (1 + hg_exp_f32(-x));
    if (m->act == HG_EPILOGUE_HARDSWISH)
        return x * conv_pwdw_clamp(m, x * m->gate_scale + m->gate_shift);
    return x;
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
        if (m->bias != NULL) sum += m->bias[j];
        t[j] = conv_pwdw_act(m, sum);
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
