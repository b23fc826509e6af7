/* conv_nhwc.c - conv.nhwc: convolution over two or three axes, channels last, weights packed in
 * panels of 16 outputs.
 *
 *   in[0]  X [N, H, W, C] or [N, D, H, W, C] f32
 *   in[1]  W [G, P, KH*KW*C/G, 16] f32 or f16, made by pack.conv; P = ceil(O / G / 16);
 *          KD*KH*KW*C/G with three axes
 *   in[2+] maps - 1 more of X, then operands of the epilogue
 *   param  kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w, groups; with three axes kd,
 *          kh, kw, stride_d, ... likewise; [maps]
 *   out[0] Y [N, OH, OW, O] or [N, OD, OH, OW, O] f32 (any type with an epilogue)
 *
 * With several maps, which differ in their channels only, X is all of them side by side, as Concat
 * would put them; there is one group then.
 *
 * Padding at the end is whatever the sizes of Y imply. Exact profile: per output the products are
 * added in the order (kd, kh, kw, c), multiply then add; taps outside the input are
 * skipped, which equals reading zero for finite weights. */
#include "kernel/conv_nhwc.h"

#include "base/half.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

/* As many maps as the last parameter says, each with a channel at least. *c: those of all. */
static holo_status conv_nhwc_check_maps(const hg_args *a, holo_error *e, int64_t *c)
{
    const int last = a->in[0].rank - 1;
    HG_TRY(hg_check_param(a, e, a->n_param - 2, "groups", 1, 1));
    HG_TRY(hg_check_param(a, e, a->n_param - 1, "maps", 1, HG_CONV_MAPS));
    const int64_t maps = a->param[a->n_param - 1];
    HG_TRY(hg_check_counts(a, e, 1 + (int)maps, -1, 1, (int)a->n_param));
    *c = 0;
    for (int64_t i = 0; i < maps; i++) {
        const holo_tensor *x = hg_conv_nhwc_map(a, i);
        HG_TRY(hg_check_in_type(a, e, i == 0 ? 0 : (uint32_t)i + 1, HG_TYPE_BIT(HOLO_F32)));
        HG_TRY(hg_check_rank(x, e, "a map", last + 1, last + 1));
        for (int d = 0; d < last; d++)
            HG_REQUIRE(e, x->dim[d] == a->in[0].dim[d], HOLO_E_SHAPE,
                       "dimension %d of map %lld is %lld, expected %lld", d, (long long)i,
                       (long long)x->dim[d], (long long)a->in[0].dim[d]);
        HG_REQUIRE(e, x->dim[last] > 0, HOLO_E_SHAPE, "map %lld has no channels", (long long)i);
        *c += x->dim[last]; /* each is below 2^59: hg_check_in_type */
    }
    return HOLO_OK;
}

holo_status hg_conv_nhwc_check(const hg_args *a, holo_error *e)
{
    HG_TRY(hg_check_counts(a, e, 2, -1, 1, (int)a->n_param));
    HG_TRY(hg_check_in_type(a, e, 1, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16)));
    const uint32_t fixed = a->in[0].rank == 5 ? 12 : 8;
    HG_TRY(hg_conv_last_check(a, e, HG_TYPE_BIT(HOLO_F32), a->n_param == fixed + 2 ? 2 : 1));
    HG_TRY(hg_check_rank(&a->in[1], e, "packed weights", 4, 4));
    HG_TRY(hg_check_param(a, e, fixed, "groups", 1, INT32_MAX));
    const int axes = a->in[0].rank - 2;
    const holo_tensor *w = &a->in[1];
    int64_t c = a->in[0].dim[1 + axes];
    if (a->n_param == fixed + 2) HG_TRY(conv_nhwc_check_maps(a, e, &c));
    const int64_t o = a->out[0].dim[1 + axes], groups = a->param[fixed];
    HG_REQUIRE(e, c % groups == 0, HOLO_E_SHAPE, "%lld groups do not divide %lld input channels",
               (long long)groups, (long long)c);
    HG_REQUIRE(e, o % groups == 0, HOLO_E_SHAPE, "%lld groups do not divide %lld output channels",
               (long long)groups, (long long)o);
    int64_t k = c / groups;
    for (int i = 0; i < axes; i++)
        HG_REQUIRE(e, hg_mul_i64(k, a->param[i], &k), HOLO_E_SHAPE,
                   "a kernel of %lld x %lld x ... over %lld channels is too large",
                   (long long)a->param[0], (long long)a->param[1], (long long)(c / groups));
    const int64_t expected[4] = {groups, hg_panels(o / groups), k, HG_PANEL};
    for (int d = 0; d < 4; d++)
        HG_REQUIRE(e, w->dim[d] == expected[d], HOLO_E_SHAPE,
                   "dimension %d of the packed weights is %lld, expected %lld", d,
                   (long long)w->dim[d], (long long)expected[d]);
    return hg_epilogue_check(a, e, hg_conv_nhwc_extra(a), 1, HOLO_F32);
}

void hg_conv_nhwc_shape_of(const hg_args *a, hg_conv_nhwc_shape *s)
{
    s->g = hg_conv2d_of(a);
    s->z = hg_conv_planes_of(a);
    s->pictures = s->g.n * s->z.out;
    if (s->z.kernel == 1 && s->z.stride == 1 && s->z.pad == 0 && s->z.in == s->z.out) {
        s->g.n = s->pictures;
        s->z.in = s->z.out = 1;
    }
    s->groups = a->param[4 * (a->in[0].rank - 2)];
    s->maps = hg_conv_nhwc_extra(a) - 1;
    for (int64_t i = 1; i < s->maps; i++)
        s->g.c += a->in[i + 1].dim[a->in[0].rank - 1];
    s->group_c = s->g.c / s->groups;
    s->group_o = s->g.o / s->groups;
    s->k = a->in[1].dim[2];
    s->taps = s->k == 0 ? 0 : s->z.kernel * s->g.kh * s->g.kw;
    s->panels = a->in[1].dim[1];
}

void hg_conv_nhwc_cost(const hg_args *a, hg_cost *cost)
{
    hg_conv_nhwc_shape s;
    hg_conv_nhwc_shape_of(a, &s);
    cost->flops =
        2.0 * (double)s.pictures * (double)s.g.oh * (double)s.g.ow * (double)s.g.o * (double)s.k;
}

int64_t hg_conv_nhwc_units(const hg_args *a)
{
    return holo_tensor_count(&a->out[0]) == 0 ? 0
                                              : hg_dims_product(&a->out[0], 0, a->out[0].rank - 2);
}

static size_t conv_nhwc_pixel_bytes(const hg_args *a)
{
    return hg_align_up((size_t)a->out[0].dim[a->out[0].rank - 1] * sizeof(float), HG_ALIGN);
}

size_t hg_conv_nhwc_scratch(const hg_args *a)
{
    return a->code == NULL ? 0 : conv_nhwc_pixel_bytes(a) + hg_epilogue_scratch(a);
}

static void conv_nhwc_tap(const float *x, const void *w, holo_dtype dtype, int64_t c, float *sum)
{
    for (int64_t i = 0; i < c; i++)
        for (int j = 0; j < HG_PANEL; j++)
            sum[j] +=
                x[i] * (dtype == HOLO_F32 ? ((const float *)w)[i * HG_PANEL + j]
                                          : hg_f16_to_f32(((const uint16_t *)w)[i * HG_PANEL + j]));
}

/* A pixel of the output. */
typedef struct conv_nhwc_place {
    int64_t picture, y, x;
} conv_nhwc_place;

/* One tap: input pixel `pixel` of every map, those of a group from channel `first` on. */
static void conv_nhwc_maps(const hg_args *a, const hg_conv_nhwc_shape *s, int64_t first,
                           int64_t pixel, const char *w, float *sum)
{
    const holo_dtype dtype = a->in[1].dtype;
    for (int64_t i = 0; i < s->maps; i++) {
        const holo_tensor *x = hg_conv_nhwc_map(a, i);
        const int64_t all = x->dim[x->rank - 1], c = s->maps == 1 ? s->group_c : all;
        conv_nhwc_tap((const float *)x->data + pixel * all + first, w, dtype, c, sum);
        w += (size_t)(c * HG_PANEL) * (hg_dtype_bits(dtype) / 8);
    }
}

/* One panel of outputs at one pixel; w points to the panel. */
static void conv_nhwc_panel(const hg_args *a, const hg_conv_nhwc_shape *s, int64_t first,
                            const char *w, const conv_nhwc_place *at, float *sum)
{
    const hg_conv2d *g = &s->g;
    const size_t tap_bytes = (size_t)(s->group_c * HG_PANEL) * (hg_dtype_bits(a->in[1].dtype) / 8);
    for (int j = 0; j < HG_PANEL; j++)
        sum[j] = 0;
    for (int64_t t = 0; t < s->taps; t++) {
        const int64_t plane = hg_conv_plane(&s->z, at->picture, t / g->kw / g->kh);
        const int64_t iy = at->y * g->stride_h + t / g->kw % g->kh * g->dil_h - g->pad_top;
        const int64_t ix = at->x * g->stride_w + t % g->kw * g->dil_w - g->pad_left;
        if (plane < 0 || iy < 0 || iy >= g->h || ix < 0 || ix >= g->w) continue;
        conv_nhwc_maps(a, s, first, (plane * g->h + iy) * g->w + ix, w + (size_t)t * tap_bytes,
                       sum);
    }
}

static void conv_nhwc_pixel(const hg_args *a, const hg_conv_nhwc_shape *s,
                            const conv_nhwc_place *at, float *y)
{
    const holo_tensor *w = &a->in[1];
    const size_t panel_bytes = (size_t)(s->k * HG_PANEL) * (hg_dtype_bits(w->dtype) / 8);
    for (int64_t group = 0; group < s->groups; group++)
        for (int64_t p = 0; p < s->panels; p++) {
            float sum[HG_PANEL];
            conv_nhwc_panel(a, s, group * s->group_c,
                            (const char *)w->data + (size_t)(group * s->panels + p) * panel_bytes,
                            at, sum);
            const int64_t cols = hg_min(HG_PANEL, s->group_o - p * HG_PANEL);
            memcpy(y + group * s->group_o + p * HG_PANEL, sum, (size_t)cols * sizeof(float));
        }
}

void hg_conv_nhwc_run(const hg_args *a, hg_range r)
{
    hg_conv_nhwc_shape s;
    hg_conv_nhwc_shape_of(a, &s);
    const hg_conv2d *g = &s.g;
    hg_epilogue ep;
    if (a->code != NULL)
        hg_epilogue_init(&ep, a, hg_conv_nhwc_extra(a), 1, hg_lane_run,
                         (char *)r.scratch + conv_nhwc_pixel_bytes(a));
    for (int64_t u = r.begin; u < r.end; u++) {
        for (int64_t ox = 0; ox < g->ow; ox++) {
            const int64_t row = u * g->ow + ox;
            float *y = a->code == NULL ? (float *)a->out[0].data + row * g->o : r.scratch;
            const conv_nhwc_place at = {.picture = u / g->oh, .y = u % g->oh, .x = ox};
            conv_nhwc_pixel(a, &s, &at, y);
            const hg_epilogue_tile tile = {.data = y,
                                           .ld = g->o,
                                           .dtype = HOLO_F32,
                                           .row = row,
                                           .rows = 1,
                                           .col = 0,
                                           .cols = g->o};
            if (a->code != NULL) hg_epilogue_run(&ep, &tile);
        }
    }
}

const hg_kernel hg_kernels_conv_nhwc[] = {
    {.name = "conv.nhwc",
     .check = hg_conv_nhwc_check,
     .units = hg_conv_nhwc_units,
     .scratch = hg_conv_nhwc_scratch,
     .cost = hg_conv_nhwc_cost,
     .run = hg_conv_nhwc_run},
    {0},
};
