/* conv_nhwc_i8.c - conv.nhwc.i8: the exact 2-D convolution of 8-bit codes, channels last, weights
 * packed.
 *
 *   in[0]  X [N, H, W, C] u8 or i8
 *   in[1]  W [G, P, ceil(KH*KW*C/G / 4) + 1, 64] i8, made by pack.convi8; P = ceil(O / G / 16)
 *   in[2]  zero point of X, its type, one element; may be absent: 0
 *   in[3]  zero points of W [O] i32, as of its signed codes; may be absent: 0
 *   in[4+] operands of the epilogue, then with HG_IGEMM_LOOKUP a table [256], then with
 *          HG_IGEMM_LOAD another for X, of which there is no padding then
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w, groups, form (igemm.h)
 *   out[0] Y [N, OH, OW, O] = sum of (X - x0)(W - w0), modulo 2^32; i32, any type with an epilogue
 *
 * Output pixels are rows of a product; what they read is gathered, padding as the zero point. A
 * gathered byte meets 16 outputs in a quarter of an instruction, so copying costs a few percent.
 * Every form gives the same bits. */
#include "kernel/conv_nhwc_i8.h"

#include "kernel/conv.h"
#include "kernel/pack.h"

enum { CONV_NHWC_I8_GROUPS = 8, CONV_NHWC_I8_FORM };

/* No window reaches beyond the input. */
static bool conv_nhwc_i8_is_inside(const hg_args *a)
{
    const hg_conv2d g = hg_conv2d_of(a);
    return g.pad_top <= 0 && g.pad_left <= 0 &&
           (g.oh - 1) * g.stride_h + (g.kh - 1) * g.dil_h - g.pad_top < g.h &&
           (g.ow - 1) * g.stride_w + (g.kw - 1) * g.dil_w - g.pad_left < g.w;
}

holo_status hg_conv_nhwc_i8_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, 10));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_I8)));
    HG_TRY(hg_conv2d_check(a, e, HG_IGEMM_CODES));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 4, 4));
    HG_TRY(hg_check_param(a, e, CONV_NHWC_I8_GROUPS, "groups", 1, INT32_MAX));
    const int64_t c = a->in[0].dim[3], o = a->out[0].dim[3], groups = a->param[CONV_NHWC_I8_GROUPS];
    HG_REQUIRE(e, c % groups == 0 && o % groups == 0, HOLO_E_SHAPE,
               "%lld groups do not divide %lld input and %lld output channels", (long long)groups,
               (long long)c, (long long)o);
    int64_t k;
    HG_REQUIRE(e, hg_mul_i64(a->param[0] * a->param[1], c / groups, &k), HOLO_E_SHAPE,
               "a kernel of %lld x %lld over %lld channels is too large", (long long)a->param[0],
               (long long)a->param[1], (long long)(c / groups));
    HG_REQUIRE(e, a->in[1].dim[0] == groups, HOLO_E_SHAPE,
               "packed weights have %lld groups, expected %lld", (long long)a->in[1].dim[0],
               (long long)groups);
    HG_TRY(hg_igemm_check_packed(a, e, o / groups, k));
    HG_TRY(hg_igemm_check(a, e, 1, o, CONV_NHWC_I8_FORM));
    HG_REQUIRE(e, (a->param[CONV_NHWC_I8_FORM] & HG_IGEMM_LOAD) == 0 || conv_nhwc_i8_is_inside(a),
               HOLO_E_SHAPE, "a window reaches beyond the input, which has a table and no padding");
    return HOLO_OK;
}

typedef struct conv_nhwc_i8_patch {
    hg_conv2d g;
    int64_t channels;          /* of a group */
    bool is_signed, is_joined; /* joined: a kernel row is contiguous in the input */
    uint8_t zero;
} conv_nhwc_i8_patch;

/* One kernel row at input column x; `line` is the input row, at the channels of the group. */
static void conv_nhwc_i8_line(const conv_nhwc_i8_patch *p, const uint8_t *line, int64_t x,
                              uint8_t *to)
{
    const hg_conv2d *g = &p->g;
    if (p->is_joined && x >= 0 && x + g->kw <= g->w) {
        hg_igemm_lift(to, line + x * g->c, g->kw * g->c, p->is_signed);
        return;
    }
    for (int64_t j = 0; j < g->kw; j++, x += g->dil_w, to += p->channels)
        if (x >= 0 && x < g->w)
            hg_igemm_lift(to, line + x * g->c, p->channels, p->is_signed);
        else
            memset(to, p->zero, (size_t)p->channels);
}

static void conv_nhwc_i8_pixel(const conv_nhwc_i8_patch *p, const uint8_t *image, int64_t oy,
                               int64_t ox, uint8_t *to)
{
    const hg_conv2d *g = &p->g;
    const int64_t bytes = g->kw * p->channels;
    for (int64_t i = 0; i < g->kh; i++, to += bytes) {
        const int64_t y = oy * g->stride_h + i * g->dil_h - g->pad_top;
        if (y >= 0 && y < g->h)
            conv_nhwc_i8_line(p, image + y * g->w * g->c, ox * g->stride_w - g->pad_left, to);
        else
            memset(to, p->zero, (size_t)bytes);
    }
}

static void conv_nhwc_i8_gather(const hg_igemm *m, int64_t row, int64_t count, int64_t group,
                                uint8_t *to)
{
    const hg_args *a = m->args;
    conv_nhwc_i8_patch p = {
        .g = hg_conv2d_of(a), .is_signed = a->in[0].dtype == HOLO_I8, .zero = hg_igemm_zero(a, 0)};
    const hg_conv2d *g = &p.g;
    const int64_t width = hg_quads(m->k) * HG_QUAD;
    p.channels = g->c / m->groups;
    p.is_joined = g->dil_w == 1 && m->groups == 1;
    for (int64_t i = row; i < row + count; i++, to += width) {
        const int64_t n = i / g->ow / g->oh;
        const uint8_t *image =
            (const uint8_t *)a->in[0].data + n * g->h * g->w * g->c + group * p.channels;
        if (m->k != 0) conv_nhwc_i8_pixel(&p, image, i / g->ow % g->oh, i % g->ow, to);
        memset(to + m->k, 0, (size_t)(width - m->k));
    }
}

hg_igemm hg_conv_nhwc_i8_of(const hg_args *a)
{
    const hg_conv2d g = hg_conv2d_of(a);
    const int64_t groups = a->param[CONV_NHWC_I8_GROUPS], k = g.kh * g.kw * (g.c / groups);
    /* Pixels in place: nothing moves, and no row ends inside a quad. */
    const bool loads = (a->param[CONV_NHWC_I8_FORM] & HG_IGEMM_LOAD) != 0;
    const bool in_place = g.kh * g.kw * groups * g.stride_h * g.stride_w == 1 && g.pad_top == 0 &&
                          g.pad_left == 0 && g.oh == g.h && g.ow == g.w && k % HG_QUAD == 0 &&
                          (loads || a->in[0].dtype == HOLO_U8);
    return (hg_igemm){.args = a,
                      .rows = g.n * g.oh * g.ow,
                      .k = k,
                      .groups = groups,
                      .columns = g.o / groups,
                      .panels = hg_panels(g.o / groups),
                      .direct = in_place ? a->in[0].data : NULL,
                      .gather = conv_nhwc_i8_gather,
                      .pairs = (a->param[CONV_NHWC_I8_FORM] & HG_IGEMM_PAIRS) != 0,
                      .lookup = hg_igemm_lookup(a, CONV_NHWC_I8_FORM),
                      .loads = loads,
                      .load = hg_igemm_load(a, CONV_NHWC_I8_FORM)};
}

void hg_conv_nhwc_i8_cost(const hg_args *a, hg_cost *cost)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    hg_igemm_cost(&g, cost);
}

int64_t hg_conv_nhwc_i8_units(const hg_args *a)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    return hg_igemm_units(&g);
}

static size_t conv_nhwc_i8_scratch(const hg_args *a)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    return hg_igemm_scratch(&g, &hg_igemm_portable);
}

static void conv_nhwc_i8_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    hg_igemm_run(&g, &hg_igemm_portable, r);
}

const hg_kernel hg_kernels_conv_nhwc_i8[] = {
    {.name = "conv.nhwc.i8",
     .check = hg_conv_nhwc_i8_check,
     .units = hg_conv_nhwc_i8_units,
     .scratch = conv_nhwc_i8_scratch,
     .cost = hg_conv_nhwc_i8_cost,
     .run = conv_nhwc_i8_run},
    {0},
};
