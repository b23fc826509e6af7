/* conv_nchw.c - conv.nchw: convolution of planes, as pictures come, to channels last; weights
 * packed in panels of 16 outputs.
 *
 *   in[0]  X [N, C, H, W] f32
 *   in[1]  W [1, P, KH*KW*C, 16] f32 or f16, made by pack.conv; P = ceil(O / 16)
 *   in[2+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, 1, 1
 *   out[0] Y [N, OH, OW, O] f32 (any type with an epilogue)
 *
 * Padding at the end is whatever the sizes of Y imply. Products are added in the order (kh, kw, c),
 * multiply then add; taps outside the input are skipped: the bits of conv.nhwc behind a copy. */
#include "kernel/conv_nchw.h"

#include "base/half.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

/* Elements of the part of the input, with its padding, that an output row reads. */
enum { CONV_NCHW_LINES_BITS = 40 };

static holo_status conv_nchw_check_lines(const hg_args *a, holo_error *e)
{
    const hg_conv2d g = hg_conv_nchw_of(a);
    int64_t width, count;
    const bool fits = hg_mul_i64(hg_max(1, g.ow), g.stride_w, &width) &&
                      hg_mul_i64(hg_max(1, g.c) * g.kh, width + g.kw, &count) &&
                      count < INT64_C(1) << CONV_NCHW_LINES_BITS;
    HG_REQUIRE(e, fits, HOLO_E_SHAPE,
               "a row of %lld outputs with stride %lld and kernel %lld x %lld reads too much",
               (long long)g.ow, (long long)g.stride_w, (long long)g.kh, (long long)g.kw);
    return HOLO_OK;
}

holo_status hg_conv_nchw_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 8));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    HG_TRY(hg_conv2d_check(a, e, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_param(a, e, 6, "dilation", 1, 1));
    HG_TRY(hg_check_param(a, e, 7, "dilation", 1, 1));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 4, 4));
    const hg_conv2d g = hg_conv_nchw_of(a);
    int64_t k;
    HG_REQUIRE(e, hg_mul_i64(g.c, g.kh, &k) && hg_mul_i64(k, g.kw, &k), HOLO_E_SHAPE,
               "a kernel of %lld x %lld over %lld channels is too large", (long long)g.kh,
               (long long)g.kw, (long long)g.c);
    const int64_t expected[4] = {1, hg_panels(g.o), k, HG_PANEL};
    for (int d = 0; d < 4; d++)
        HG_REQUIRE(e, a->in[1].dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the packed weights is %lld, expected %lld", d,
                   (long long)a->in[1].dim[d], (long long)expected[d]);
    HG_TRY(conv_nchw_check_lines(a, e));
    return hg_epilogue_check(a, e, HG_CONV_NCHW_FIRST_EXTRA, 1, HOLO_F32);
}

void hg_conv_nchw_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) * (double)a->in[1].dim[2];
}

static int64_t conv_nchw_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : a->out[0].dim[0] * a->out[0].dim[1];
}

static size_t conv_nchw_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[3] * sizeof(float), HG_ALIGN);
}

static size_t conv_nchw_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : conv_nchw_pixel_bytes(a) + hg_epilogue_scratch(a);
}

static float conv_nchw_weight(const holo_tensor *w, int64_t i)
{
    return w->dtype == HOLO_F32 ? ((const float *)w->data)[i]
                                : hg_f16_to_f32(((const uint16_t *)w->data)[i]);
}

/* Output o at row oy and column ox of a picture whose planes begin at x. */
static float conv_nchw_sum(const hg_args *a, const hg_conv2d *g, const float *x, int64_t oy,
                           int64_t ox, int64_t o)
{
    const int64_t k = a->in[1].dim[2], panel = o / HG_PANEL * k * HG_PANEL + o % HG_PANEL;
    float sum = 0;
    for (int64_t i = 0; i < k; i++) {
        const int64_t c = i % g->c, tap = i / g->c;
        const int64_t iy = oy * g->stride_h + tap / g->kw - g->pad_top;
        const int64_t ix = ox * g->stride_w + tap % g->kw - g->pad_left;
        if (iy < 0 || iy >= g->h || ix < 0 || ix >= g->w) continue;
        sum += x[(c * g->h + iy) * g->w + ix] * conv_nchw_weight(&a->in[1], panel + i * HG_PANEL);
    }
    return sum;
}

static void conv_nchw_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv_nchw_of(a);
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, HG_CONV_NCHW_FIRST_EXTRA, 1, hg_lane_run,
                         (char *)r.scratch + conv_nchw_pixel_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        const float *x = (const float *)a->in[0].data + u / g.oh * g.c * g.h * g.w;
        for (int64_t ox = 0; ox < g.ow; ox++) {
            const int64_t row = u * g.ow + ox;
            float *y = a->code == NULL ? (float *)a->out[0].data + row * g.o : r.scratch;
            for (int64_t o = 0; o < g.o; o++)
                y[o] = conv_nchw_sum(a, &g, x, u % g.oh, ox, o);
            const hg_epilogue_tile tile = {.data = y,
                                           .ld = g.o,
                                           .dtype = HOLO_F32,
                                           .row = row,
                                           .rows = 1,
                                           .col = 0,
                                           .cols = g.o};
            if (a->code != NULL) hg_epilogue_run(&ep, &tile);
        }
    }
}

const hg_kernel hg_kernels_conv_nchw[] = {
    {.name = "conv.nchw",
     .check = hg_conv_nchw_check,
     .units = conv_nchw_units,
     .scratch = conv_nchw_scratch,
     .cost = hg_conv_nchw_cost,
     .run = conv_nchw_run},
    {0},
};
