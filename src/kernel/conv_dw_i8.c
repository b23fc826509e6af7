/* conv_dw_i8.c - conv.dw.i8: the exact depthwise 2-D convolution of 8-bit codes, channels last.
 *
 *   in[0]  X [N, H, W, C] u8 or i8
 *   in[1]  W [KH*KW, C] u8 or i8, made by pack.dw
 *   in[2]  zero point of X, its type, one element; may be absent: 0
 *   in[3]  zero points of W, its type, one or C; may be absent: 0
 *   in[4+] operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w
 *   out[0] Y [N, OH, OW, C] = sum of (X - x0)(W - w0), modulo 2^32; i32, any type with an epilogue
 *
 * Padding adds nothing. Every form gives the same bits. */
#include "kernel/conv_dw_i8.h"

static holo_status conv_dw_i8_check_zero(const hg_args *a, holo_error *e, uint32_t i, int64_t most)
{
    if (!hg_args_has(a, i)) return HOLO_OK;
    HG_TRY(hg_check_same_type(&a->in[i], &a->in[i - HG_IGEMM_ZERO_A], e, "zero point"));
    const int64_t count = holo_tensor_count(&a->in[i]);
    HG_REQUIRE(e, count == 1 || count == most, HOLO_E_SHAPE, "%lld zero points, expected 1 or %lld",
               (long long)count, (long long)most);
    return HOLO_OK;
}

holo_status hg_conv_dw_i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 8));
    HG_TRY(hg_check_in_type(a, e, 1, HG_IGEMM_CODES));
    HG_TRY(hg_conv2d_check(a, e, HG_IGEMM_CODES));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 2, 2));
    const int64_t c = a->in[0].dim[3], taps = a->param[0] * a->param[1];
    HG_REQUIRE(e, a->out[0].dim[3] == c, HOLO_E_SHAPE, "output has %lld channels, expected %lld",
               (long long)a->out[0].dim[3], (long long)c);
    HG_REQUIRE(e, a->in[1].dim[0] == taps && a->in[1].dim[1] == c, HOLO_E_SHAPE,
               "weights are %lld x %lld, expected %lld x %lld", (long long)a->in[1].dim[0],
               (long long)a->in[1].dim[1], (long long)taps, (long long)c);
    HG_TRY(conv_dw_i8_check_zero(a, e, HG_IGEMM_ZERO_A, 1));
    HG_TRY(conv_dw_i8_check_zero(a, e, HG_IGEMM_ZERO_B, c));
    return hg_igemm_check_end(a, e);
}

void hg_conv_dw_i8_cost(const hg_args *a, hg_cost *cost)
{
    cost->flops = 2.0 * (double)holo_tensor_count(&a->out[0]) * (double)a->in[1].dim[0];
}

int64_t hg_conv_dw_i8_units(const hg_args *a)
{
    const hg_conv2d g = hg_conv2d_of(a);
    return holo_tensor_count(&a->out[0]) == 0 ? 0 : g.n * g.oh;
}

static size_t conv_dw_i8_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[3] * sizeof(int32_t), HG_ALIGN);
}

static size_t conv_dw_i8_scratch(const hg_args *a)
{
    return conv_dw_i8_pixel_bytes(a) + hg_epilogue_scratch(a);
}

/* Code i of a tensor. */
static int32_t conv_dw_i8_code(const holo_tensor *t, int64_t i)
{
    return t->dtype == HOLO_U8 ? ((const uint8_t *)t->data)[i] : ((const int8_t *)t->data)[i];
}

/* Weight of a tap and channel, less its zero point. */
static int32_t conv_dw_i8_weight(const hg_args *a, int64_t tap, int64_t channel)
{
    const int32_t code = conv_dw_i8_code(&a->in[1], tap * a->in[1].dim[1] + channel);
    if (!hg_args_has(a, HG_IGEMM_ZERO_B)) return code;
    const holo_tensor *z = &a->in[HG_IGEMM_ZERO_B];
    return code - conv_dw_i8_code(z, holo_tensor_count(z) == 1 ? 0 : channel);
}

/* One output pixel, all channels; x is the number of the first code of its image. */
static void conv_dw_i8_pixel(const hg_args *a, const hg_conv2d *g, int64_t x, int64_t oy,
                             int64_t ox, uint32_t *sum)
{
    const int32_t zero =
        hg_args_has(a, HG_IGEMM_ZERO_A) ? conv_dw_i8_code(&a->in[HG_IGEMM_ZERO_A], 0) : 0;
    memset(sum, 0, (size_t)g->c * sizeof *sum);
    for (int64_t tap = 0; tap < g->kh * g->kw; tap++) {
        const int64_t iy = oy * g->stride_h + tap / g->kw * g->dil_h - g->pad_top;
        const int64_t ix = ox * g->stride_w + tap % g->kw * g->dil_w - g->pad_left;
        if (iy < 0 || iy >= g->h || ix < 0 || ix >= g->w) continue;
        const int64_t at = x + (iy * g->w + ix) * g->c;
        for (int64_t c = 0; c < g->c; c++)
            sum[c] += (uint32_t)((conv_dw_i8_code(&a->in[0], at + c) - zero) *
                                 conv_dw_i8_weight(a, tap, c));
    }
}

static void conv_dw_i8_run(const hg_args *a, hg_range r)
{
    const hg_conv2d g = hg_conv2d_of(a);
    hg_igemm_end end;
    if (r.begin >= r.end) return;
    hg_igemm_end_init(&end, a, &hg_igemm_portable, (char *)r.scratch + conv_dw_i8_pixel_bytes(a));
    for (int64_t row = r.begin * g.ow; row < r.end * g.ow; row++) {
        const hg_epilogue_tile tile = {.data = r.scratch,
                                       .ld = g.c,
                                       .dtype = HOLO_I32,
                                       .row = row,
                                       .rows = 1,
                                       .col = 0,
                                       .cols = g.c};
        conv_dw_i8_pixel(a, &g, row / g.ow / g.oh * g.h * g.w * g.c, row / g.ow % g.oh, row % g.ow,
                         r.scratch);
        hg_igemm_end_run(&end, &tile);
    }
}

const hg_kernel hg_kernels_conv_dw_i8[] = {
    {.name = "conv.dw.i8",
     .check = hg_conv_dw_i8_check,
     .units = hg_conv_dw_i8_units,
     .scratch = conv_dw_i8_scratch,
     .cost = hg_conv_dw_i8_cost,
     .run = conv_dw_i8_run},
    {0},
};
