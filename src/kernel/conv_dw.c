/* conv_dw.c - conv.dw: depthwise convolution over two or three axes, channels last: one filter a
 * channel.
 *
 *   in[0]  X [N, H, W, C] or [N, D, H, W, C] f32
 *   in[1]  W [KH*KW, C] or [KD*KH*KW, C] f32 or f16, made by pack.dw
 *   in[2+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w; with three axes kd, kh, kw,
 *          stride_d, ... likewise
 *   out[0] Y [N, OH, OW, C] or [N, OD, OH, OW, C] f32 (any type with an epilogue)
 *   out[1] with two axes means of its rows (conv_means.h), or absent
 *
 * Exact profile: taps in the order (kd, kh, kw), multiply then add; taps outside the input are
 * skipped, which equals reading zero for finite weights. */
#include "kernel/conv_dw.h"

#include "base/half.h"
#include "kernel/conv_means.h"
#include "kernel/epilogue.h"

enum { CONV_DW_FIRST_EXTRA = 2 };

holo_status hg_conv_dw_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, hg_conv_has_means(a) ? 2 : 1, (int)a->n_param));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_conv_last_check(a, e, HG_TYPE_BIT(HOLO_F32), 0));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 2, 2));
    const int last = a->in[0].rank - 1;
    const int64_t c = a->in[0].dim[last], o = a->out[0].dim[last];
    int64_t taps = a->param[0] * a->param[1];
    HG_REQUIRE(e, o == c, HOLO_E_SHAPE, "output has %lld channels, expected %lld", (long long)o,
               (long long)c);
    HG_REQUIRE(e, last == 3 || hg_mul_i64(taps, a->param[2], &taps), HOLO_E_SHAPE,
               "a kernel of %lld x %lld x %lld is too large", (long long)a->param[0],
               (long long)a->param[1], (long long)a->param[2]);
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
    return holo_tensor_count(&a->out[0]) == 0 ? 0
                                              : hg_dims_product(&a->out[0], 0, a->out[0].rank - 2);
}

static size_t conv_dw_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->in[1].dim[1] * sizeof(float), HG_ALIGN);
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

/* Plane `plane` of the kernel; x is the picture it meets. */
static void conv_dw_pixel(const hg_conv2d *g, const float *x, const holo_tensor *w, int64_t plane,
                          int64_t oy, int64_t ox, float *y)
{
    for (int64_t i = 0; i < g->kh; i++)
        for (int64_t j = 0; j < g->kw; j++) {
            const int64_t iy = oy * g->stride_h + i * g->dil_h - g->pad_top;
            const int64_t ix = ox * g->stride_w + j * g->dil_w - g->pad_left;
            if (iy < 0 || iy >= g->h || ix < 0 || ix >= g->w) continue;
            conv_dw_tap(x + (iy * g->w + ix) * g->c, w, (plane * g->kh + i) * g->kw + j, y);
        }
}

static void conv_dw_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv2d_of(a);
    const hg_conv_planes z = hg_conv_planes_of(a);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, CONV_DW_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + conv_dw_pixel_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        for (int64_t ox = 0; ox < g.ow; ox++) {
            const int64_t row = u * g.ow + ox;
            float *y = a->code == NULL ? (float *)a->out[0].data + row * g.c : r.scratch;
            memset(y, 0, (size_t)g.c * sizeof(float));
            for (int64_t k = 0; k < z.kernel; k++) {
                const int64_t plane = hg_conv_plane(&z, u / g.oh, k);
                if (plane < 0) continue;
                conv_dw_pixel(&g, (const float *)a->in[0].data + plane * g.h * g.w * g.c, &a->in[1],
                              k, u % g.oh, ox, y);
            }
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
