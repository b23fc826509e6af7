/* conv_winograd.c - 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) with AVX2 and FMA: 36
 * multiplications for 16 outputs instead of 144.
 *
 *     V = B' d B      6x6 inputs d of a tile, for each channel
 *     U = G g G'      3x3 weights g, for each channel and output
 *     M = sum over channels of U * V, element by element: 36 matrix products, tiles x channels
 *     Y = A' M A      4x4 outputs
 *
 * The points are 0, +-a, +-b and infinity with a = sqrt(1/2), b = sqrt(2): since a*b = 1 the
 * transforms are short, and their numbers are smaller than with the usual points 1 and 2, which
 * halves the error.
 *
 * Weights are those of conv.nhwc and are transformed here, a panel of outputs and a block of
 * channels at a time: for a block of tiles that costs a twentieth of the products, less than
 * reading four times as many bytes would, and a file holds them once.
 *
 * A unit is a block of tiles times a group of panels; units that follow each other share tiles, so
 * their inputs are transformed once. With three axes the planes of the kernel are more channels to
 * sum over, and tiles one behind the other share the planes of the input between them: a unit is a
 * number of bands, rows of tiles seen through some or all planes of the output. A kernel whose taps
 * lie d apart sees d x d pictures ("grids") of every d-th pixel. Groups of channels that make whole
 * panels share the transformed inputs, and each panel is multiplied with those of its group. Shapes
 * for which this does not pay, and results that are not f32, go to conv.nhwc.
 *
 * With AVX-512 two panels are multiplied side by side, in the tiles of avx512/gemm.c, and the
 * transforms are 16 floats wide (conv_winograd_run.inc is compiled for both widths). A bias and a
 * clamp are done to the outputs before they are stored.
 *
 * Error bound: an output errs by about 10 roundings of the largest sum of products in its tile,
 * whatever K (test/kernel/conv_nhwc allows 8 times 2^-24 times K for numbers up to 1). An infinite
 * or NaN input reaches all outputs of the tiles that contain it. */
#include "kernel/conv_nhwc.h"

#include "backend/cpu/avx2/conv_winograd.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

#include <math.h>

enum {
    WINOGRAD_MIN_CHANNELS = 12,     /* below, transforms cost more than they save */
    WINOGRAD_MIN_TILES = 6,         /* likewise for the weights, */
    WINOGRAD_GROUP_TILES = 20,      /* where every panel has channels of its own (bench/op/conv) */
    WINOGRAD_MAX_TILES = 96,        /* of a unit */
    WINOGRAD_TILE_VALUES = 3 << 17, /* wanted size of a unit's V */
    WINOGRAD_PAIR_TILES = 36,       /* fewer do not pay for the weights of two panels */
    WINOGRAD_DEPTH = 128,           /* channels of a block of U: 288 KiB a panel */
    WINOGRAD_SHARE_TILES = 24,      /* enough for a thread to transform weights for */
    WINOGRAD_UNITS = 8,             /* wanted, for threads */
    WINOGRAD_MAX_REACH = 16,        /* planes that a kernel spans: more are mostly padding */
    WINOGRAD_SPARSE = 2             /* pixels of the tiles of grids to those of the output */
};

extern const hg_kernel hg_kernels_conv_nhwc_avx2[];

enum { WINOGRAD_LANES = 8 };

typedef __m256 winograd_v;

#define WINOGRAD_OP(name) _mm256_##name##_ps

HG_INLINE __m256 winograd_load_half(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

#include "backend/cpu/conv_winograd_run.inc"

typedef struct winograd_plan {
    hg_conv_nhwc_shape s;
    int64_t grids, high, wide;      /* of a picture; tiles of a grid */
    int64_t tiles;                  /* of all pictures */
    int64_t block, blocks;          /* tiles of a unit */
    int64_t bands, planes;          /* of a unit; planes 0 when there are two axes */
    int64_t parts, deep;            /* units of a band; input planes of a unit */
    int64_t sources;                /* rows of V, without the one of zeros */
    int64_t panels;                 /* of all groups */
    int64_t pair;                   /* of them are multiplied side by side: 1 or 2 */
    int64_t group, groups;          /* panels of a unit */
    int64_t channels;               /* floats of a row of V: whole vectors */
    int64_t taps, depth;            /* planes of the kernel and channels of a block of U */
    int64_t v_step, u_step, m_step; /* floats from point to point */
} winograd_plan;

/* Points are written and read side by side: an odd number of cache lines from one to the next keeps
 * them in different sets of L1. */
static int64_t winograd_step(int64_t floats)
{
    return (hg_ceil_div(floats, HG_PANEL) | 1) * HG_PANEL;
}

static bool winograd_fits(const hg_args *a, const hg_conv_nhwc_shape *s)
{
    const hg_conv2d *g = &s->g;
    return g->kh == 3 && g->kw == 3 && g->stride_h == 1 && g->stride_w == 1 &&
           a->out[0].dtype == HOLO_F32 && s->group_c >= WINOGRAD_MIN_CHANNELS &&
           s->group_o >= WINOGRAD_MIN_CHANNELS && (s->groups == 1 || s->group_o % HG_PANEL == 0);
}

/* Tiles of a unit, at most. */
static int64_t winograd_most(const winograd_plan *p)
{
    const int64_t fitting = WINOGRAD_TILE_VALUES / WINOGRAD_POINTS / p->channels;
    const int64_t most = hg_max(2 * HG_GEMM_ROWS, hg_min(WINOGRAD_MAX_TILES, fitting));
    if (p->pair == 1) return most;
    /* of L2, U and M of two panels take twice as much */
    return hg_max(hg_min(most, WINOGRAD_PAIR_TILES), hg_min(most, fitting * 2 / 3));
}

/* Units of a block, some if `shares`. Pairs of panels stay together, but not where they were all
 * there is for two threads. */
static void winograd_share(winograd_plan *p, bool shares)
{
    if (p->blocks == 1 && p->panels == 2) p->pair = 1;
    const int64_t sets = hg_ceil_div(p->panels, p->pair);
    p->groups = shares ? hg_min(sets, hg_max(1, WINOGRAD_UNITS / p->blocks)) : 1;
    p->group = hg_ceil_div(sets, p->groups) * p->pair;
    p->groups = hg_ceil_div(p->panels, p->group);
}

/* Threads get tiles of their own rather than panels: the inputs of a block, transformed again, cost
 * more than the weights of a panel. An even number of blocks suits two and four. */
static void winograd_plan_units(winograd_plan *p)
{
    p->blocks = hg_ceil_div(p->tiles, winograd_most(p));
    if (p->tiles >= 2 * WINOGRAD_SHARE_TILES) p->blocks = (p->blocks + 1) / 2 * 2;
    p->block = hg_ceil_div(p->tiles, p->blocks);
    p->blocks = hg_ceil_div(p->tiles, p->block);
    p->sources = p->block;
    winograd_share(p, p->blocks < WINOGRAD_UNITS / 2);
}

/* Planes of a unit are halved until V fits; where all fit, so may several bands. */
static bool winograd_plan_bands(winograd_plan *p)
{
    const hg_conv_planes *z = &p->s.z;
    const int64_t reach = (z->kernel - 1) * z->dil, bands = p->s.g.n * p->grids * p->high;
    const int64_t most = winograd_most(p) / p->wide;
    if (z->stride != 1 || reach > WINOGRAD_MAX_REACH || most < 1) return false;
    p->parts = hg_ceil_div(z->out, most);
    p->planes = hg_ceil_div(z->out, p->parts);
    p->parts = hg_ceil_div(z->out, p->planes);
    p->bands = p->parts > 1 ? 1 : hg_min(bands, hg_max(1, most / p->planes));
    if (p->bands > 1 && bands / p->bands == 1) p->bands = hg_ceil_div(bands, 2);
    p->deep = hg_min(z->in, p->planes + reach);
    p->block = p->bands * p->planes * p->wide;
    p->blocks = hg_ceil_div(bands, p->bands) * p->parts;
    p->sources = p->bands * p->deep * p->wide;
    p->taps = hg_min(z->kernel, hg_max(1, WINOGRAD_DEPTH / p->depth));
    /* panels of their own where the blocks do not come in pairs */
    winograd_share(p, p->blocks <= 2 * WINOGRAD_UNITS &&
                          (p->blocks < WINOGRAD_UNITS / 2 || p->blocks % 2 != 0));
    return true;
}

/* Tiles of grids; false when most of them would lie outside. */
static bool winograd_plan_tiles(winograd_plan *p)
{
    const hg_conv2d *g = &p->s.g;
    const int64_t oh = hg_max(1, g->oh), ow = hg_max(1, g->ow);
    if (g->dil_h > oh || g->dil_w > ow) return false;
    p->grids = g->dil_h * g->dil_w;
    p->high = hg_ceil_div(hg_ceil_div(oh, g->dil_h), WINOGRAD_OUT);
    p->wide = hg_ceil_div(hg_ceil_div(ow, g->dil_w), WINOGRAD_OUT);
    p->tiles = p->s.pictures * p->grids * p->high * p->wide;
    const double covered = (double)(p->grids * p->high * p->wide) * WINOGRAD_OUT * WINOGRAD_OUT;
    return p->tiles >= (p->s.groups == 1 ? WINOGRAD_MIN_TILES : WINOGRAD_GROUP_TILES) &&
           (p->grids == 1 || covered <= WINOGRAD_SPARSE * (double)oh * (double)ow);
}

/* false: conv.nhwc serves. */
static bool winograd_plan_of(const hg_args *a, winograd_plan *p)
{
    hg_conv_nhwc_shape_of(a, &p->s);
    const hg_conv2d *g = &p->s.g;
    if (!winograd_fits(a, &p->s)) return false;
    if (!winograd_plan_tiles(p)) return false;
    p->channels = hg_ceil_div(g->c, 8) * 8;
    p->depth = hg_ceil_div(p->s.group_c, hg_ceil_div(p->s.group_c, WINOGRAD_DEPTH));
    p->panels = p->s.groups * p->s.panels;
    p->pair = hg_gemm_is_wide(a) && p->s.panels > 1 && p->s.groups == 1 ? 2 : 1;
    p->planes = 0;
    p->taps = 1;
    if (p->s.z.kernel == 1 && p->s.z.in == 1 && p->s.z.out == 1)
        winograd_plan_units(p);
    else if (!winograd_plan_bands(p))
        return false;
    p->v_step = winograd_step((p->sources + 1) * p->channels);
    p->u_step = winograd_step(p->taps * p->depth * HG_PANEL * p->pair);
    p->m_step = winograd_step(p->block * HG_PANEL * p->pair);
    return true;
}

/* Scratch: row pointers, V, U, M, a pixel of zeros, the epilogue's own. */
static size_t winograd_pointer_bytes(const winograd_plan *p)
{
    return hg_align_up((size_t)(p->block * p->s.z.kernel) * sizeof(float *), HG_ALIGN);
}

static size_t winograd_v_bytes(const winograd_plan *p)
{
    return (size_t)(WINOGRAD_POINTS * p->v_step) * sizeof(float);
}

static size_t winograd_u_bytes(const winograd_plan *p)
{
    return (size_t)(WINOGRAD_POINTS * p->u_step) * sizeof(float);
}

static size_t winograd_m_bytes(const winograd_plan *p)
{
    return (size_t)(WINOGRAD_POINTS * p->m_step) * sizeof(float);
}

static size_t winograd_zero_bytes(const winograd_plan *p)
{
    return hg_align_up((size_t)p->channels * sizeof(float), HG_ALIGN);
}

static hg_work winograd_work(const hg_args *a)
{
    winograd_plan p;
    if (!winograd_plan_of(a, &p)) return hg_kernels_conv_nhwc_avx2[0].work(a);
    return (hg_work){.units = p.blocks * p.groups,
                     .scratch = winograd_pointer_bytes(&p) + winograd_v_bytes(&p) +
                                winograd_u_bytes(&p) + winograd_m_bytes(&p) +
                                winograd_zero_bytes(&p) + hg_epilogue_scratch(a)};
}

typedef struct winograd_unit {
    const hg_args *a;
    const winograd_plan *p;
    const float **rows; /* of the first point of V: [planes of the kernel][tiles] */
    float *v, *u, *m;   /* 36 times [block][channels], [depth][16], [block][16], or 32 of them */
    const float *zero;
    int64_t tile, tiles; /* first, count */
    int64_t band, bands; /* with three axes, likewise */
    int64_t plane;       /* the first of the output */
    const float *bias;   /* a simple epilogue that is done on the way: a bias or NULL, a clamp */
    float low, high;
    const hg_epilogue_simple *finish; /* another simple one */
    const hg_epilogue *lane;          /* at most one of the three */
} winograd_unit;

/* ---- inputs ------------------------------------------------------------------------------ */

/* A tile of the output, or where it lies in the input: a picture, its first pixel; tiles from there
 * to the end of the row. */
typedef struct winograd_place {
    int64_t picture, y, x, left;
} winograd_place;

/* The tile in row `row` and column `column` of tiles, rows counted through the grids. */
static winograd_place winograd_put(const winograd_plan *p, int64_t picture, int64_t row,
                                   int64_t column)
{
    const hg_conv2d *g = &p->s.g;
    const int64_t grid = row / p->high;
    return (winograd_place){.picture = picture,
                            .y = grid / g->dil_w + row % p->high * WINOGRAD_OUT * g->dil_h,
                            .x = grid % g->dil_w + column * WINOGRAD_OUT * g->dil_w,
                            .left = p->wide - column};
}

/* Tile `at` of a unit of bands that are `planes` deep, from plane `first` of `all` on. */
static winograd_place winograd_find_band(const winograd_unit *u, int64_t at, int64_t planes,
                                         int64_t first, int64_t all)
{
    const int64_t wide = u->p->wide, band = u->band + at / wide / planes;
    const int64_t rows = u->p->grids * u->p->high;
    return winograd_put(u->p, band / rows * all + first + at / wide % planes, band % rows,
                        at % wide);
}

/* Output tile `at` of the unit. */
static winograd_place winograd_find(const winograd_unit *u, int64_t at)
{
    const winograd_plan *p = u->p;
    const int64_t tile = u->tile + at;
    if (p->planes != 0)
        return winograd_find_band(u, at, u->tiles / u->bands / p->wide, u->plane, p->s.z.out);
    const int64_t rows = p->grids * p->high;
    return winograd_put(p, tile / p->wide / rows, tile / p->wide % rows, tile % p->wide);
}

/* Output tile `at` of the unit, where *place is the one before: divisions take as long as a
 * transform. */
static void winograd_walk(const winograd_unit *u, int64_t at, winograd_place *place)
{
    if (at == 0 || --place->left == 0)
        *place = winograd_find(u, at);
    else
        place->x += WINOGRAD_OUT * u->p->s.g.dil_w;
}

/* Pointers to the 36 pixels of a tile in a map of c channels; those outside are zero. */
static void winograd_point(const winograd_unit *u, const winograd_place *at, const void *map,
                           int64_t c, const float **from)
{
    const hg_conv2d *g = &u->p->s.g;
    const int64_t y0 = at->y - g->pad_top, x0 = at->x - g->pad_left;
    const float *x = (const float *)map + at->picture * g->h * g->w * c;
    int64_t column[WINOGRAD_IN];
    for (int j = 0; j < WINOGRAD_IN; j++) {
        const int64_t ix = x0 + j * g->dil_w;
        column[j] = ix >= 0 && ix < g->w ? ix * c : -1;
    }
    for (int i = 0; i < WINOGRAD_IN; i++) {
        const int64_t iy = y0 + i * g->dil_h;
        const bool is_inside = iy >= 0 && iy < g->h;
        const float *row = x + (is_inside ? iy * g->w * c : 0);
        for (int j = 0; j < WINOGRAD_IN; j++)
            from[i * WINOGRAD_IN + j] = is_inside && column[j] >= 0 ? row + column[j] : u->zero;
    }
}

/* The last channels, fewer than eight, moved to where eight can be read. */
static void winograd_edge(const float **from, int64_t c, int64_t count, float edge[][8])
{
    for (int i = 0; i < WINOGRAD_POINTS; i++) {
        memset(edge[i], 0, sizeof edge[i]);
        from[i] = memcpy(edge[i], from[i] + c, (size_t)count * sizeof(float));
    }
}

/* The channels of a map in a row of V. */
static void winograd_input_map(const winograd_unit *u, const winograd_place *at,
                               const holo_tensor *map, float *to)
{
    const winograd_plan *p = u->p;
    const int64_t channels = map->dim[map->rank - 1];
    const float *from[WINOGRAD_POINTS];
    winograd_point(u, at, map->data, channels, from);
    float edge[WINOGRAD_POINTS][8];
    int64_t c = 0;
#if HG_HAS_AVX512
    if (hg_has_avx512(u->a)) c = hg_winograd_inputs_avx512(from, 0, channels, to, p->v_step);
#endif
    c = winograd_inputs(from, c, channels, to, p->v_step);
    if (c == channels) return;
    winograd_edge(from, c, channels - c, edge);
    (void)winograd_inputs(from, 0, 8, to + c, p->v_step);
}

/* Row `row` of V. What a map writes behind its last channel are zeros, where the next map or row
 * comes to lie, or the row of zeros. */
static void winograd_input(const winograd_unit *u, const winograd_place *at, int64_t row)
{
    float *to = u->v + row * u->p->channels;
    for (int64_t i = 0; i < u->p->s.maps; i++) {
        const holo_tensor *map = hg_conv_nhwc_map(u->a, i);
        winograd_input_map(u, at, map, to);
        to += map->dim[map->rank - 1];
    }
}

/* Bands: the planes of the input that those of the unit meet, and for each plane of the kernel a
 * row of V for each tile, the one of zeros in the padding. */
static void winograd_band_inputs(const winograd_unit *u)
{
    const winograd_plan *p = u->p;
    const hg_conv_planes *z = &p->s.z;
    const int64_t planes = u->tiles / u->bands / p->wide;
    const int64_t first = hg_max(0, hg_min(z->in, u->plane - z->pad));
    const int64_t last = u->plane + planes - 1 + (z->kernel - 1) * z->dil - z->pad;
    const int64_t deep = hg_max(0, hg_min(z->in - 1, last) - first + 1);
    for (int64_t i = 0; i < u->bands * deep * p->wide; i++) {
        const winograd_place at = winograd_find_band(u, i, deep, first, z->in);
        winograd_input(u, &at, i);
    }
    for (int64_t i = 0; i < z->kernel * u->tiles; i++) {
        const int64_t at = i % u->tiles, band = at / p->wide / planes;
        const int64_t plane = u->plane + at / p->wide % planes + i / u->tiles * z->dil - z->pad;
        const bool is_inside = plane >= 0 && plane < z->in;
        const int64_t row = (band * deep + plane - first) * p->wide + at % p->wide;
        u->rows[i] = u->v + (is_inside ? row : p->sources) * p->channels;
    }
}

static void winograd_unit_inputs(const winograd_unit *u)
{
    if (u->p->planes != 0) {
        winograd_band_inputs(u);
        return;
    }
    winograd_place at;
    for (int64_t i = 0; i < u->tiles; i++) {
        winograd_walk(u, i, &at);
        winograd_input(u, &at, i);
    }
}

/* ---- weights ----------------------------------------------------------------------------- */

/* Some panels that are multiplied side by side. */
typedef struct winograd_set {
    int64_t panel, panels, width; /* first, count, their columns in U and M */
} winograd_set;

/* Channels [c0, c0 + depth) of a plane of the kernel. */
static void winograd_set_weights(const winograd_unit *u, const winograd_set *set, int64_t plane,
                                 int64_t c0, int64_t depth, float *to)
{
    const holo_tensor *w = &u->a->in[1];
    const bool is_half = hg_dtype_is(w->dtype, HOLO_F16);
    const int64_t tap = u->p->s.group_c * HG_PANEL;
    for (int64_t i = 0; i < set->panels; i++) {
        const int64_t at = ((set->panel + i) * u->p->s.k + c0) * HG_PANEL + plane * 9 * tap;
        const hg_winograd_weights part = {.from = (const char *)w->data + at * (is_half ? 2 : 4),
                                          .is_half = is_half,
                                          .tap = tap,
                                          .depth = depth,
                                          .to = to + i * HG_PANEL,
                                          .ld = set->width,
                                          .step = u->p->u_step};
#if HG_HAS_AVX512
        if (hg_has_avx512(u->a)) {
            hg_winograd_weights_avx512(&part);
            continue;
        }
#endif
        winograd_weights(&part);
    }
}

/* ---- products and outputs ---------------------------------------------------------------- */

/* `taps` planes of the kernel. */
static void winograd_multiply(const winograd_unit *u, const winograd_set *set, int64_t plane,
                              int64_t taps, int64_t c0, int64_t depth)
{
    const winograd_plan *p = u->p;
    hg_gemm_step step = {.row = u->rows + plane * u->tiles,
                         .row_step = u->tiles,
                         .taps = taps,
                         .depth = depth,
                         .zero = u->v + p->sources * p->channels,
                         .b_step = set->width * (int64_t)sizeof(float),
                         .b_panel = HG_PANEL * sizeof(float),
                         .panels = set->panels,
                         .sum_ld = set->width,
                         .ld = set->width,
                         .cols = set->width,
                         .is_wide = hg_gemm_is_wide(u->a),
                         .narrow = p->s.g.o - set->panel * HG_PANEL <= HG_PANEL / 2,
                         .alpha = 1};
    const int64_t first = set->panel / p->s.panels * p->s.group_c + c0;
    for (int64_t i = 0; i < WINOGRAD_POINTS; i++) {
        step.offset = i * p->v_step + first;
        step.b = u->u + i * p->u_step;
        step.c = u->m + i * p->m_step;
        step.sum = c0 == 0 && plane == 0 ? NULL : step.c;
        hg_gemm_panel(&step, u->tiles);
    }
}

/* How many of a tile's four outputs along an axis lie in it. */
static int64_t winograd_inside(int64_t size, int64_t first, int64_t dil)
{
    return hg_max(0, hg_min(WINOGRAD_OUT, hg_ceil_div(size - first, dil)));
}

/* Columns [col, cols), whole vectors of eight. */
static void winograd_columns(const winograd_unit *u, const hg_winograd_outputs *y, int64_t col,
                             int64_t cols, const float *m, float *to)
{
#if HG_HAS_AVX512
    if (hg_has_avx512(u->a)) col = hg_winograd_outputs_avx512(y, col, cols, m, to);
#else
    (void)u;
#endif
    if (col < cols) (void)winograd_outputs(y, col, cols, m, to);
}

/* One tile of some panels, the part of it that lies in the output. */
static void winograd_output(const winograd_unit *u, const winograd_place *at,
                            const winograd_set *set, const hg_winograd_outputs *y, const float *m)
{
    const hg_conv2d *g = &u->p->s.g;
    const int64_t rows = winograd_inside(g->oh, at->y, g->dil_h),
                  pixels = winograd_inside(g->ow, at->x, g->dil_w), first = set->panel * HG_PANEL;
    const int64_t cols = hg_min(set->width, g->o - first);
    const int64_t whole = rows == WINOGRAD_OUT && pixels == WINOGRAD_OUT ? cols / 8 * 8 : 0;
    float *out =
        (float *)u->a->out[0].data + ((at->picture * g->oh + at->y) * g->ow + at->x) * g->o + first;
    winograd_columns(u, y, 0, whole, m, out);
    if (whole == cols) return;
    float edge[WINOGRAD_OUT * WINOGRAD_OUT][2 * HG_PANEL];
    hg_winograd_outputs part = *y;
    part.pixel = 2 * HG_PANEL;
    part.row = WINOGRAD_OUT * part.pixel;
    winograd_columns(u, &part, whole, hg_ceil_div(cols, 8) * 8, m, edge[0]);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < pixels; c++)
            memcpy(out + r * y->row + c * y->pixel + whole, edge[r * WINOGRAD_OUT + c] + whole,
                   (size_t)(cols - whole) * sizeof(float));
}

static void winograd_outputs_of(const winograd_unit *u, const winograd_set *set)
{
    const hg_conv2d *g = &u->p->s.g;
    const int64_t col = set->panel * HG_PANEL;
    float bias[2 * HG_PANEL]; /* -0 adds nothing to any number, not even to -0 */
    for (int64_t j = 0; j < set->width; j++)
        bias[j] = u->bias != NULL && col + j < g->o ? u->bias[col + j] : -0.0F;
    const hg_winograd_outputs y = {.bias = bias,
                                   .low = u->low,
                                   .high = u->high,
                                   .step = u->p->m_step,
                                   .row = g->dil_h * g->ow * g->o,
                                   .pixel = g->dil_w * g->o};
    winograd_place at;
    for (int64_t i = 0; i < u->tiles; i++) {
        winograd_walk(u, i, &at);
        winograd_output(u, &at, set, &y, u->m + i * set->width);
    }
}

/* Pixels of a row of tiles, from `pixel` on: neighbours, or those of a grid. */
static void winograd_finish_row(const winograd_unit *u, int64_t pixel, int64_t pixels, int64_t col,
                                int64_t cols)
{
    const hg_conv2d *g = &u->p->s.g;
    float *out = u->a->out[0].data;
    const int64_t together = g->dil_w == 1 ? pixels : 1;
    for (int64_t i = 0; u->lane != NULL && i < pixels; i += together) {
        const int64_t at = pixel + i * g->dil_w;
        const hg_epilogue_tile block = {.data = out + at * g->o + col,
                                        .ld = g->o,
                                        .dtype = HOLO_F32,
                                        .row = at,
                                        .rows = together,
                                        .col = col,
                                        .cols = cols};
        hg_epilogue_run(u->lane, &block);
    }
    /* One value for each row: those of pixels of a grid do not follow each other. */
    const bool is_apart = u->finish != NULL && hg_epilogue_has_rows(u->finish) && g->dil_w > 1;
    const int64_t rows = is_apart ? 1 : pixels, ld = is_apart ? g->o : g->o * g->dil_w;
    for (int64_t i = 0; i < pixels; i += rows)
        hg_gemm_finish_all_avx2(u->finish, out, out + (pixel + i * g->dil_w) * g->o + col, ld, rows,
                                col, cols);
}

/* The epilogue of panels [panel, end): pixels of the tiles, output row by output row. */
static void winograd_finish(const winograd_unit *u, int64_t panel, int64_t end)
{
    const winograd_plan *p = u->p;
    const hg_conv2d *g = &p->s.g;
    const int64_t col = panel * HG_PANEL, cols = hg_min(end * HG_PANEL, g->o) - col;
    for (int64_t i = 0; i < u->tiles;) {
        const winograd_place at = winograd_find(u, i);
        const int64_t count = hg_min(u->tiles - i, at.left);
        const int64_t pixels = hg_min(count * WINOGRAD_OUT, hg_ceil_div(g->ow - at.x, g->dil_w));
        for (int64_t r = 0; r < winograd_inside(g->oh, at.y, g->dil_h); r++) {
            const int64_t pixel = (at.picture * g->oh + at.y + r * g->dil_h) * g->ow + at.x;
            winograd_finish_row(u, pixel, pixels, col, cols);
        }
        i += count;
    }
}

static void winograd_panels(const winograd_unit *u, const winograd_set *set)
{
    const winograd_plan *p = u->p;
    for (int64_t plane = 0; plane < p->s.z.kernel; plane += p->taps)
        for (int64_t c0 = 0; c0 < p->s.group_c; c0 += p->depth) {
            const int64_t depth = hg_min(p->depth, p->s.group_c - c0);
            const int64_t taps = hg_min(p->taps, p->s.z.kernel - plane);
            for (int64_t t = 0; t < taps; t++)
                winograd_set_weights(u, set, plane + t, c0, depth, u->u + t * depth * set->width);
            winograd_multiply(u, set, plane, taps, c0, depth);
        }
    winograd_outputs_of(u, set);
    if (u->finish != NULL) winograd_finish(u, set->panel, set->panel + set->panels);
}

/* The tiles of unit i; whether they are others than those of the unit before. */
static bool winograd_place_unit(winograd_unit *u, int64_t i)
{
    const winograd_plan *p = u->p;
    const int64_t block = i / p->groups, tile = block * p->block;
    const bool is_new = tile != u->tile;
    u->tile = tile;
    u->tiles = hg_min(p->block, p->tiles - tile);
    if (p->planes == 0) return is_new;
    u->band = block / p->parts * p->bands;
    u->bands = hg_min(p->bands, p->s.g.n * p->grids * p->high - u->band);
    u->plane = block % p->parts * p->planes;
    u->tiles = u->bands * hg_min(p->planes, p->s.z.out - u->plane) * p->wide;
    return is_new;
}

/* Two axes: tiles are their own sources. With three there is a row of zeros. */
static void winograd_begin(const winograd_unit *u)
{
    const winograd_plan *p = u->p;
    for (int64_t i = 0; p->planes == 0 && i < p->block; i++)
        u->rows[i] = u->v + i * p->channels;
    for (int64_t i = 0; p->planes != 0 && i < WINOGRAD_POINTS; i++)
        memset(u->v + i * p->v_step + p->sources * p->channels, 0,
               (size_t)p->channels * sizeof(float));
}

/* A bias and a clamp are added to the outputs before they are stored; what else there is then has a
 * bias less to add. */
static void winograd_simple(winograd_unit *u, hg_epilogue_simple *e)
{
    u->bias = e->bias;
    e->bias = e->bias2;
    e->bias2 = NULL;
    if (!hg_epilogue_is_plain(e) || e->bias != NULL) {
        u->finish = e;
        return;
    }
    if (e->act != HG_EPILOGUE_CLAMP) return;
    u->low = e->low;
    u->high = e->high;
}

static void winograd_run(const hg_args *a, hg_range r)
{
    winograd_plan p;
    if (!winograd_plan_of(a, &p)) {
        hg_kernels_conv_nhwc_avx2[0].run(a, r);
        return;
    }
    char *scratch = r.scratch;
    winograd_unit u = {.a = a, .p = &p, .tile = -1, .low = -INFINITY, .high = INFINITY};
    u.rows = (const float **)(void *)scratch;
    u.v = (float *)(void *)(scratch += winograd_pointer_bytes(&p));
    u.u = (float *)(void *)(scratch += winograd_v_bytes(&p));
    u.m = (float *)(void *)(scratch += winograd_u_bytes(&p));
    u.zero =
        (const float *)(void *)memset(scratch += winograd_m_bytes(&p), 0, winograd_zero_bytes(&p));
    scratch += winograd_zero_bytes(&p);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    if (hg_epilogue_is_simple(a, hg_conv_nhwc_extra(a), &simple)) {
        winograd_simple(&u, &simple);
    } else if (a->code != NULL) {
        hg_epilogue_init(&ep, a, hg_conv_nhwc_extra(a), 1, hg_lane_tile_fast_avx2, scratch);
        u.lane = &ep;
    }
    winograd_begin(&u);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t first = i % p.groups * p.group, end = hg_min(p.panels, first + p.group);
        if (winograd_place_unit(&u, i)) winograd_unit_inputs(&u);
        winograd_set set = {.panel = first};
        for (; set.panel < end; set.panel += set.panels) {
            set.panels = hg_min(p.pair, end - set.panel);
            set.width = set.panels * HG_PANEL;
            winograd_panels(&u, &set);
        }
        /* the interpreter is fast on long rows */
        if (u.lane != NULL) winograd_finish(&u, first, end);
    }
}

const hg_kernel hg_kernels_conv_winograd_avx2[] = {
    {.name = "conv.winograd",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_nhwc_check,
     .work = winograd_work,
     .cost = hg_conv_nhwc_cost,
     .run = winograd_run},
    {0},
};
