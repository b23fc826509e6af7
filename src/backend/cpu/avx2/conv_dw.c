/* conv_dw.c - conv.dw with AVX2 and FMA.
 *
 * A unit is a block of output rows times a block of channels. It is done in bands of a few rows, so
 * narrow in channels that the input a band reads stays in L1 (conv_dw_band.h). Where pixels are
 * so far apart that L1 has room for few of them, a multiple of a large power of two, a unit reads a
 * copy. Error bound: one rounding for each of the KH*KW fused multiply-adds, in order. */
#include "kernel/conv_dw.h"

#include "backend/cpu/avx2/conv_dw_band.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"

enum {
    CONV_DW_FIRST_EXTRA = 2,
    CONV_DW_LINE = 16,         /* channels of a cache line */
    CONV_DW_BAND = 4,          /* output rows of a band, at most */
    CONV_DW_WAY = 4096,        /* bytes after which L1 has the same place again, */
    CONV_DW_WAYS = 8,          /* which it has so often */
    CONV_DW_FAR = 1024,        /* bytes between pixels from which a copy pays */
    CONV_DW_UNIT_VALUES = 8192 /* wanted outputs of a unit */
};

typedef struct conv_dw_plan {
    hg_conv2d g;
    hg_conv_planes z;
    int64_t pictures, taps;
    int64_t channels, channel_blocks; /* of a unit; how many */
    int64_t band;                     /* output rows of a band */
    int64_t rows, row_blocks;         /* output rows of a unit; blocks in an image */
    int64_t copied;                   /* input rows of a unit that are copied, 0: none */
} conv_dw_plan;

/* Input rows that some output rows reach over, with padding. */
static int64_t conv_dw_reach(const hg_conv2d *g, int64_t rows)
{
    return (rows - 1) * g->stride_h + (g->kh - 1) * g->dil_h + 1;
}

/* Whether L1 has less room than a band has pixels: they are `low` bytes apart, or a multiple. */
static bool conv_dw_collides(const conv_dw_plan *p)
{
    const int64_t step = p->g.c * (int64_t)sizeof(float), low = hg_max(1, step & -step);
    const int64_t room = hg_max(1, CONV_DW_WAY / low) * CONV_DW_WAYS;
    return low >= CONV_DW_FAR && hg_min(p->g.h, conv_dw_reach(&p->g, p->band)) * p->g.w > room;
}

/* Channels for which a band of output rows reads no more than L1 holds. */
static int64_t conv_dw_fit(const conv_dw_plan *p, int64_t band)
{
    const hg_conv2d *g = &p->g;
    const int64_t deep = hg_max(1, hg_min(p->z.in, p->z.kernel));
    const int64_t high = hg_min(hg_max(1, g->h), (band - 1) * g->stride_h + g->kh) * deep;
    return HG_CONV_DW_L1_VALUES / high / hg_max(1, g->w) / CONV_DW_LINE * CONV_DW_LINE;
}

static void conv_dw_plan_of(const hg_args *a, conv_dw_plan *p)
{
    p->g = hg_conv2d_of(a);
    p->z = hg_conv_planes_of(a);
    p->band = CONV_DW_BAND;
    const hg_conv2d *g = &p->g;
    p->pictures = g->n * p->z.out;
    p->taps = a->in[1].dim[0];
    while (p->band > 1 && conv_dw_fit(p, p->band) < CONV_DW_LINE)
        p->band /= 2;
    const int64_t c = hg_max(1, g->c);
    p->channels = hg_min(c, hg_max(CONV_DW_LINE, conv_dw_fit(p, p->band)));
    p->channel_blocks = hg_ceil_div(c, p->channels);
    /* no block below a vector: the last one takes the few channels left over */
    if (p->channel_blocks > 1 && c % p->channels != 0 && c % p->channels < HG_CONV_DW_VECTOR)
        p->channel_blocks--;
    p->rows =
        hg_min(g->oh, CONV_DW_UNIT_VALUES / hg_max(1, g->ow) / p->channels / p->band * p->band);
    p->rows = hg_max(p->band, p->rows);
    p->row_blocks = hg_ceil_div(hg_max(1, g->oh), p->rows);
    const bool copies = a->in[0].rank == 4 && conv_dw_collides(p);
    p->copied = copies ? hg_min(g->h, conv_dw_reach(g, p->rows)) : 0;
}

/* Channels of the last block may exceed the others by less than a vector. */
static int64_t conv_dw_max_channels(const conv_dw_plan *p)
{
    return hg_max(p->channels, p->g.c - (p->channel_blocks - 1) * p->channels);
}

/* Scratch: widened weights, the result before an epilogue, the epilogue's own. */
static size_t conv_dw_weight_bytes(const hg_args *a, const conv_dw_plan *p)
{
    if (a->in[1].dtype == HOLO_F32) return 0;
    return hg_align_up((size_t)(p->taps * conv_dw_max_channels(p)) * sizeof(float), HG_ALIGN);
}

static size_t conv_dw_result_bytes(const hg_args *a, const conv_dw_plan *p)
{
    if (a->code == NULL) return 0;
    return hg_align_up((size_t)(p->rows * p->g.ow * conv_dw_max_channels(p)) * sizeof(float),
                       HG_ALIGN);
}

static size_t conv_dw_copy_bytes(const conv_dw_plan *p)
{
    return hg_align_up((size_t)(p->copied * p->g.w * conv_dw_max_channels(p)) * sizeof(float),
                       HG_ALIGN);
}

static hg_work conv_dw_work(const hg_args *a)
{
    if (holo_tensor_count(&a->out[0]) == 0) return (hg_work){0};
    conv_dw_plan p;
    conv_dw_plan_of(a, &p);
    return (hg_work){.units = p.pictures * p.row_blocks * p.channel_blocks,
                     .scratch = conv_dw_weight_bytes(a, &p) + conv_dw_result_bytes(a, &p) +
                                conv_dw_copy_bytes(&p) + hg_epilogue_scratch(a)};
}

/* Input, weights and the kernel planes that count for a picture and channels from c0 on. */
static void conv_dw_point(const hg_args *a, const conv_dw_plan *p, int64_t picture, int64_t c0,
                          float *wide, hg_conv_dw_unit *u)
{
    const hg_conv2d *g = &p->g;
    const hg_conv_planes *z = &p->z;
    int64_t first, end;
    const int64_t start = picture % z->out * z->stride;
    hg_conv_inside(z->in, z->kernel, z->dil, z->pad - start, 0, &first, &end);
    const int64_t plane = first == end ? 0 : hg_conv_plane(z, picture, first);
    u->planes = end - first;
    u->x_plane = u->planes > 1 ? z->dil * g->h * g->w * g->c : 0;
    u->x = (const float *)a->in[0].data + plane * g->h * g->w * g->c + c0;
    u->x_first = 0;
    u->x_row = g->w * g->c;
    u->x_col = g->c;
    hg_conv_dw_weights_avx2(u, &a->in[1], c0, wide);
    if (u->planes > 0) u->w += first * g->kh * g->kw * u->w_tap;
}

/* The input of the unit, `rows` output rows, side by side. */
static void conv_dw_copy(hg_conv_dw_unit *u, int64_t rows, float *to)
{
    const hg_conv2d *g = u->g;
    const int64_t start = u->first * g->stride_h - g->pad_top;
    const int64_t first = hg_max(0, hg_min(g->h, start));
    const int64_t end = hg_min(g->h, start + conv_dw_reach(g, rows));
    const float *from = u->x + first * u->x_row;
    u->x = to;
    for (int64_t i = 0; i < (end - first) * g->w; i++, from += u->x_col, to += u->channels)
        memcpy(to, from, (size_t)u->channels * sizeof *to);
    u->x_first = first;
    u->x_col = u->channels;
    u->x_row = g->w * u->channels;
}

static void conv_dw_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    conv_dw_plan p;
    conv_dw_plan_of(a, &p);
    const hg_conv2d *g = &p.g;
    char none, *scratch = r.scratch != NULL ? r.scratch : &none; /* all that follows has no bytes */
    hg_conv_dw_unit u = {.g = g, .is_wide = hg_has_avx512(a)};
    float *wide = (float *)(void *)scratch;
    float *result = (float *)(void *)(scratch += conv_dw_weight_bytes(a, &p));
    float *copy = (float *)(void *)(scratch += conv_dw_result_bytes(a, &p));
    scratch += conv_dw_copy_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    const bool is_simple = hg_epilogue_is_simple(a, CONV_DW_FIRST_EXTRA, &simple);
    const bool has_lane = a->code != NULL && !is_simple;
    if (has_lane) hg_epilogue_init(&ep, a, CONV_DW_FIRST_EXTRA, 1, hg_lane_tile_fast_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        /* all channels of some rows: their lines lie together */
        const int64_t channel = i % p.channel_blocks, block = i / p.channel_blocks % p.row_blocks;
        const int64_t image = i / p.row_blocks / p.channel_blocks, c0 = channel * p.channels;
        const int64_t oy = block * p.rows, rows = hg_min(p.rows, g->oh - oy);
        const int64_t pixel = (image * g->oh + oy) * g->ow;
        u.channels = channel + 1 == p.channel_blocks ? g->c - c0 : p.channels;
        u.y = has_lane ? result : (float *)a->out[0].data + pixel * g->c + c0;
        u.y_col = has_lane ? u.channels : g->c;
        u.y_row = g->ow * u.y_col;
        u.first = oy;
        conv_dw_point(a, &p, image, c0, wide, &u);
        if (p.copied > 0) conv_dw_copy(&u, rows, copy);
        const bool has_rest = is_simple && hg_conv_dw_find_ends(&simple, c0, &u.ends);
        for (int64_t k = 0; k < rows; k += p.band) {
            const int64_t band = hg_min(p.band, rows - k);
            hg_conv_dw_band_avx2(&u, oy + k, band);
            if (has_rest) hg_conv_dw_finish(&u, &simple, a->out[0].data, k, band);
            if (!has_lane) hg_conv_dw_means_avx2(a, image * g->oh + oy + k, band, c0, u.channels);
        }
        if (!has_lane) continue;
        const hg_epilogue_tile tile = {.data = result,
                                       .ld = u.channels,
                                       .dtype = HOLO_F32,
                                       .row = pixel,
                                       .rows = rows * g->ow,
                                       .col = c0,
                                       .cols = u.channels};
        hg_epilogue_run(&ep, &tile);
        hg_conv_dw_means_avx2(a, image * g->oh + oy, rows, c0, u.channels);
    }
}

const hg_kernel hg_kernels_conv_dw_avx2[] = {
    {.name = "conv.dw",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_dw_check,
     .work = conv_dw_work,
     .cost = hg_conv_dw_cost,
     .run = conv_dw_run},
    {0},
};
