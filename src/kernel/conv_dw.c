/* conv_dw.c - conv.dw: depthwise 2-D convolution, channels last: one filter a channel.
 *
 *   in[0]  X [N, H, W, C] f32
 *   in[1]  W [KH*KW, C] f32 or f16, made by pack.dw
 *   in[2+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w
 *   out[0] Y [N, OH, OW, C] f32 (any type with an epilogue)
 *   out[1] means of its rows (conv_means.h), or absent
 *
 * Exact profile: taps in the order (kh, kw), multiply then add; taps outside the input are skipped,
 * which equals reading zero for finite weights. */
#include "kernel/conv_dw.h"

#include "base/half.h"
#include "kernel/conv_means.h"
#include "kernel/epilogue.h"

enum { CONV_DW_FIRST_EXTRA = 2 };

holo_status hg_conv_dw_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, hg_conv_has_means(a) ? 2 : 1, 8));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_conv2d_check(a, e, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 2, 2));
    const int64_t c = a->in[0].dim[3], taps = a->param[0] * a->param[1];
    HG_REQUIRE(e, a->out[0].dim[3] == c, HOLO_E_SHAPE, "output has %lld channels, expected %lld",
               (long long)a->out[0].dim[3], (long long)c);
    HG_REQUIRE(e, a->in[1].dim[0] == taps, HOLO_E_SHAPE, "weights have %lld taps, expected %lld",
               (long long)a->in[1].dim[0], (long long)taps);
    HG_REQUIRE(e, a->in[1].dim[1] == c, HOLO_E_SHAPE, "weights have %lld channels, expected %lld",
               (long long)a->in[1].dim[1], (long long)c);
    HG_TRY(hg_conv_means_check(a, e));
    return hg_epilogue_check(a, e, CONV_DW_FIRST_EXTRA, 1, HOLO_F32);
}

void hg_conv_dw_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) * (double)a->in[1].dim[0];
}

static int64_t conv_dw_units(const hg_args *a)
{
    hg_conv2d g = hg_conv2d_of(a);
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : g.n * g.oh;
}

static size_t conv_dw_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[3] * sizeof(float), HG_ALIGN);
}

static size_t conv_dw_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : conv_dw_pixel_bytes(a) + hg_epilogue_scratch(a);
}

/* One tap of one pixel, all channels. */
static void conv_dw_tap(const float *x, const holo_tensor *weight, int64_t tap, float *y)
{
    const int64_t c = weight->dim[1];
    if (weight->dtype == HOLO_F32) {
        const float *w = (const float *)weight->data + tap * c;
        for (int64_t i = 0; i < c; i++)
            y[i] += x[i] * w[i];
    } else {
        const uint16_t *w = (const uint16_t *)weight->data + tap * c;
        for (int64_t i = 0; i < c; i++)
            y[i] += x[i] * hg_f16_to_f32(w[i]);
    }
}

static void conv_dw_pixel(const hg_conv2d *g, const float *x, const holo_tensor *w, int64_t oy,
                          int64_t ox, float *y)
{
    memset(y, 0, (size_t)g->c * sizeof(float));
    for (int64_t i = 0; i < g->kh; i++)
        for (int64_t j = 0; j < g->kw; j++) {
            const int64_t iy = oy * g->stride_h + i * g->dil_h - g->pad_top;
            const int64_t ix = ox * g->stride_w + j * g->dil_w - g->pad_left;
            if (iy < 0 || iy >= g->h || ix < 0 || ix >= g->w) continue;
            conv_dw_tap(x + (iy * g->w + ix) * g->c, w, i * g->kw + j, y);
        }
}

static void conv_dw_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv2d_of(a);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, CONV_DW_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + conv_dw_pixel_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        const float *x = (const float *)a->in[0].data + u / g.oh * g.h * g.w * g.c;
        for (int64_t ox = 0; ox < g.ow; ox++) {
            const int64_t row = u * g.ow + ox;
            float *y = a->code == NULL ? (float *)a->out[0].data + row * g.c : r.scratch;
            conv_dw_pixel(&g, x, &a->in[1], u % g.oh, ox, y);
            const hg_epilogue_tile tile = {.data = y,
                                           .ld = g.c,
                                           .dtype = HOLO_F32,
                                           .row = row,
                                           .rows = 1,
                                           .col = 0,
                                           .cols = g.c};
            if (a->code != NULL) hg_epilogue_run(&ep, &tile);
        }
        hg_conv_means_run(a, u);
    }
}

const hg_kernel hg_kernels_conv_dw[] = {
    {.name = "conv.dw",
     .check = hg_conv_dw_check,
     .units = conv_dw_units,
     .scratch = conv_dw_scratch,
     .cost = hg_conv_dw_cost,
     .run = conv_dw_run},
    {0},
};
