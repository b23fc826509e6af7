/* conv_nhwc.c - conv.nhwc with AVX2 and FMA: an indirect matrix product.
 *
 * Output pixels are the rows of the product, kernel positions ("taps") its k blocks. Every row has
 * a pointer for each tap: to the input pixel, or to zeros where the tap lies in the padding. No
 * input is copied. With few channels a tap would be too short for the inner loop; then a tap is
 * a whole kernel row, which is contiguous in the input where it lies inside, and a copy elsewhere.
 * A tap that lies in the padding for all rows of a tile is passed over: dilated kernels on small
 * images have many.
 *
 * Maps that lie side by side are more taps: each is cut into pieces of as many channels as go into
 * all of them.
 *
 * A map of one to four channels, which most of a panel would not belong to, is made of dot products
 * along the channels instead: four to eight times as fast.
 *
 * A unit is a block of pixels times a group of panels of one channel group; units that follow each
 * other share pixels, so their pointers are made once, for the first channel: those of a group lie
 * as far behind it in every pixel, also in the one of zeros.
 * Error bound: one rounding for each of the K fused multiply-adds, in order; dot products add eight
 * such chains. */
#include "kernel/conv_nhwc.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/lane.h"
#include "kernel/epilogue.h"
#include "kernel/pack.h"

enum {
    CONV_NHWC_ROW_BLOCK = 96,
    CONV_NHWC_POINTERS = 4096,        /* of a unit, at most, unless six rows need more */
    CONV_NHWC_PATCH_VALUES = 1 << 15, /* copied kernel rows of a unit, likewise */
    CONV_NHWC_SHORT_TAP = 24,         /* channels below which taps are kernel rows */
    CONV_NHWC_TINY_TAP = 4,       /* the same with groups, where kernel rows have to be copied */
    CONV_NHWC_TILE_VALUES = 6144, /* wanted size of the block an epilogue sees */
    CONV_NHWC_MAX_GROUP = 12,     /* panels of a unit */
    CONV_NHWC_UNITS = 16,         /* wanted, for threads */
    CONV_NHWC_BLOCKS = 4,         /* of pixels; of more there may be another one */
    CONV_NHWC_LARGE = 1 << 18,    /* elements of an output beyond L2 */
    CONV_NHWC_HUGE = 6 << 20,     /* read and written by a step: beyond L3 */
    CONV_NHWC_STREAM = 1 << 20,   /* of a map that is then read in order */
    CONV_NHWC_FEW = 4,            /* outputs that are dot products */
    CONV_NHWC_DOTS = HG_VEC8_REGISTERS / 2 /* of them are computed at a time: chains of sums */
};

typedef struct conv_nhwc_plan {
    hg_conv_nhwc_shape s;
    bool by_row;         /* taps are kernel rows */
    int64_t begin, end;  /* columns of the output whose kernel rows can be read in place */
    int64_t taps, depth; /* k = taps * depth */
    int64_t pieces;      /* of all maps, for each tap of the kernel */
    int64_t pixels;      /* rows of the product */
    hg_cut row;
    int64_t group, groups; /* panels of the widest unit; units in a channel group */
    bool is_large, is_huge;
    bool is_point; /* each output pixel is made of the input pixel in the same place */
    bool is_few;   /* outputs are dot products */
} conv_nhwc_plan;

static void conv_nhwc_swap(int64_t *a, int64_t *b)
{
    const int64_t old = *a;
    *a = *b;
    *b = old;
}

/* Pictures that are one pixel wide are as well one pixel high: kernel rows are long then. So are
 * those of which every pixel makes one. */
static void conv_nhwc_turn(hg_conv2d *g)
{
    if (g->kh == 1 && g->kw == 1 && g->h == g->oh && g->w == g->ow && g->stride_h == 1 &&
        g->stride_w == 1 && g->pad_top == 0 && g->pad_left == 0) {
        g->w = g->ow = g->oh * g->ow;
        g->h = g->oh = 1;
    }
    if (g->w != 1 || g->ow != 1 || g->kw != 1 || g->pad_left != 0) return;
    conv_nhwc_swap(&g->h, &g->w);
    conv_nhwc_swap(&g->oh, &g->ow);
    conv_nhwc_swap(&g->kh, &g->kw);
    conv_nhwc_swap(&g->stride_h, &g->stride_w);
    conv_nhwc_swap(&g->pad_top, &g->pad_left);
    conv_nhwc_swap(&g->dil_h, &g->dil_w);
}

/* Parts of the panels, at least `least` and at most `most` of them where that is possible: enough
 * units for threads, and of few an even number, which two of them can share. */
static int64_t conv_nhwc_groups(int64_t blocks, int64_t least, int64_t most)
{
    int64_t groups = hg_max(least, hg_ceil_div(CONV_NHWC_UNITS, blocks));
    groups = hg_min(groups, most);
    if (blocks * groups % 2 == 0 || blocks * groups >= CONV_NHWC_UNITS) return groups;
    return groups < most ? groups + 1 : hg_max(1, groups - 1);
}

/* The greatest number of channels that goes into every map. */
static int64_t conv_nhwc_piece(const hg_args *a, const hg_conv_nhwc_shape *s)
{
    int64_t piece = 0;
    for (int64_t i = 0; i < s->maps; i++) {
        const holo_tensor *x = hg_conv_nhwc_map(a, i);
        piece = hg_gcd(piece, x->dim[x->rank - 1]);
    }
    return piece;
}

/* Elements of the maps that a step reads and writes. */
static int64_t conv_nhwc_moved(const hg_args *a, const conv_nhwc_plan *p)
{
    const int64_t out = p->pixels * p->s.g.o;
    int64_t all = p->pixels * p->s.g.c + out;
    for (uint32_t i = hg_conv_nhwc_extra(a); i < a->n_in; i++)
        if (hg_args_has(a, i) && holo_tensor_count(&a->in[i]) == out) all += out;
    return all;
}

static void conv_nhwc_plan_of(const hg_args *a, conv_nhwc_plan *p)
{
    hg_conv_nhwc_shape_of(a, &p->s);
    conv_nhwc_turn(&p->s.g);
    const hg_conv2d *g = &p->s.g;
    p->begin = p->end = 0;
    if (g->dil_w == 1 && p->s.groups == 1) {
        p->begin = hg_max(0, hg_ceil_div(g->pad_left, g->stride_w));
        p->end = hg_min(g->ow, hg_floor_div(g->w - g->kw + g->pad_left, g->stride_w) + 1);
    }
    p->by_row = p->s.group_c < (p->s.groups == 1 ? CONV_NHWC_SHORT_TAP : CONV_NHWC_TINY_TAP) &&
                g->kw > 1 && p->s.maps == 1;
    p->pieces = p->s.maps == 1 || p->s.k == 0 ? 1 : g->c / conv_nhwc_piece(a, &p->s);
    p->taps = p->s.k == 0 ? 0 : p->by_row ? p->s.z.kernel * g->kh : p->s.taps * p->pieces;
    p->depth = p->taps == 0 ? 0 : p->s.k / p->taps;
    p->pixels = p->s.pictures * g->oh * g->ow;
    int64_t rows = hg_min(CONV_NHWC_ROW_BLOCK, CONV_NHWC_POINTERS / hg_max(1, p->taps));
    if (p->by_row) rows = hg_min(rows, CONV_NHWC_PATCH_VALUES / hg_max(1, p->s.k));
    const int64_t tile = hg_gemm_rows(hg_gemm_is_wide(a));
    rows = hg_max(tile, rows / tile * tile);
    const int64_t pixels = hg_max(1, p->pixels), panels = hg_max(1, p->s.panels);
    p->row = hg_cut_of(pixels, rows, tile);
    const int64_t wanted = CONV_NHWC_TILE_VALUES / HG_PANEL / p->row.size;
    const int64_t group = hg_min(panels, hg_min(wanted, CONV_NHWC_MAX_GROUP));
    p->groups = conv_nhwc_groups(p->row.count * p->s.groups, hg_ceil_div(panels, group),
                                 hg_max(1, panels / hg_gemm_together(hg_gemm_is_wide(a))));
    p->group = hg_ceil_div(panels, p->groups);
    /* of an odd number of units one of two threads does one more */
    if (p->row.count > CONV_NHWC_BLOCKS && p->row.count * p->s.groups * p->groups % 2 != 0)
        p->row = hg_cut_into(pixels, p->row.count + 1, tile);
    p->is_large = holo_tensor_count(&a->out[0]) >= CONV_NHWC_LARGE;
    p->is_point = p->taps == p->pieces && !p->by_row && p->s.groups == 1 && g->stride_h == 1 &&
                  g->stride_w == 1 && g->pad_top == 0 && g->pad_left == 0 && g->h == g->oh &&
                  g->w == g->ow && p->s.z.in == 1;
    p->is_huge = p->s.groups == 1 && p->is_large && conv_nhwc_moved(a, p) >= CONV_NHWC_HUGE;
    p->is_few = g->o <= CONV_NHWC_FEW && p->s.groups == 1 && p->depth >= 16 && p->depth % 8 == 0;
}

/* Scratch: pointers, sums of a unit, zeros, copied kernel rows, weights of dot products, the
 * epilogue's own. */
static size_t conv_nhwc_pointer_bytes(const conv_nhwc_plan *p)
{
    return hg_align_up((size_t)(p->row.size * p->taps) * sizeof(float *), HG_ALIGN);
}

static size_t conv_nhwc_sum_bytes(const conv_nhwc_plan *p)
{
    return (size_t)(p->row.size * p->group) * HG_PANEL * sizeof(float);
}

static size_t conv_nhwc_zero_bytes(const conv_nhwc_plan *p)
{
    const int64_t count = p->by_row ? p->depth : p->s.g.c;
    return hg_align_up((size_t)count * sizeof(float), HG_ALIGN);
}

static size_t conv_nhwc_patch_bytes(const conv_nhwc_plan *p)
{
    return p->by_row ? hg_align_up((size_t)(p->row.size * p->s.k) * sizeof(float), HG_ALIGN) : 0;
}

static size_t conv_nhwc_few_bytes(const conv_nhwc_plan *p)
{
    return p->is_few ? hg_align_up((size_t)(CONV_NHWC_FEW * p->s.k) * sizeof(float), HG_ALIGN) : 0;
}

static hg_work conv_nhwc_work(const hg_args *a)
{
    conv_nhwc_plan p;
    conv_nhwc_plan_of(a, &p);
    const bool is_empty = p.pixels == 0 || p.s.g.o == 0;
    return (hg_work){.units = is_empty ? 0 : p.row.count * p.s.groups * p.groups,
                     .scratch = conv_nhwc_pointer_bytes(&p) + conv_nhwc_sum_bytes(&p) +
                                conv_nhwc_zero_bytes(&p) + conv_nhwc_patch_bytes(&p) +
                                conv_nhwc_few_bytes(&p) + hg_epilogue_scratch(a)};
}

/* ---- pointers ---------------------------------------------------------------------------- */

typedef struct conv_nhwc_unit {
    const hg_args *a;
    const conv_nhwc_plan *p;
    const float **rows; /* [taps][n_rows] */
    float *sum, *patch;
    float *few; /* weights of dot products, [outputs][k] */
    const float *zero;
    int64_t row, n_rows, channel_group, panel, panels;
    int64_t pointed, patched; /* row and channel group of the pointers, or -1 */
    int64_t first;            /* channel behind what the pointers point to */
    float *c;                 /* result, in the output or in sum */
    int64_t ld;
    const hg_epilogue_simple *finish; /* NULL: nothing, or the interpreter afterwards */
} conv_nhwc_unit;

#if !defined(__wasm__) /* a page downloads it for pictures that it does not have */
/* Tiles read a few lines of each of their rows, which no processor notices as a stream: from memory
 * that takes three times as long as computing on it. What lies side by side is read here in order,
 * so that it is in L2 by then (64 to 256 channels of 8 x 56 x 56 pixels and a residual: 12.2 -> 6.4
 * ms on Zen 5; fetches instead of loads: 9.2). */
static void conv_nhwc_stream(const float *from, int64_t count)
{
    const volatile char *line = (const volatile char *)from;
    for (int64_t i = 0; i < count * (int64_t)sizeof *from; i += 64)
        (void)line[i];
}

/* A map in which the pixels of the output follow each other. */
static void conv_nhwc_stream_map(const conv_nhwc_unit *u, const void *map, int64_t channels)
{
    if (u->p->pixels * channels >= CONV_NHWC_STREAM)
        conv_nhwc_stream((const float *)map + u->row * channels, u->n_rows * channels);
}

/* What the units of a block of rows read, where one call computes them all. */
static void conv_nhwc_stream_rows(const conv_nhwc_unit *u)
{
    const conv_nhwc_plan *p = u->p;
    for (int64_t m = 0; p->is_point && m < p->s.maps; m++) {
        const holo_tensor *x = hg_conv_nhwc_map(u->a, m);
        conv_nhwc_stream_map(u, x->data, x->dim[x->rank - 1]);
    }
    for (int n = 0; u->finish != NULL && n < HG_EPILOGUE_RESIDUALS; n++)
        if (u->finish->residual[n].data != NULL && !u->finish->residual[n].per_row)
            conv_nhwc_stream_map(u, u->finish->residual[n].data, p->s.g.o);
}
#endif

/* Output pixels [ox, ox + count) of one output row; their pointers start at to[tap * n_rows]. */
typedef struct conv_nhwc_span {
    int64_t ox, count;
    const float *x;    /* of the map that is read */
    int64_t c, pieces; /* its channels, and what they are cut into */
    const float **to;
    float *patch; /* depth floats for each pixel and kernel row */
} conv_nhwc_span;

/* One tap: pixels [begin, end) of the output row read `line`, the others zero. */
static void conv_nhwc_point_tap(const conv_nhwc_unit *u, const conv_nhwc_span *span,
                                const float *line, int64_t shift, const float **to)
{
    const hg_conv2d *g = &u->p->s.g;
    int64_t begin = 0, end = 0;
    if (line != NULL) hg_conv_inside(g->w, g->ow, g->stride_w, g->pad_left, shift, &begin, &end);
    begin = hg_max(0, hg_min(span->count, begin - span->ox));
    end = hg_max(begin, hg_min(span->count, end - span->ox));
    for (int64_t i = 0; i < begin; i++)
        to[i] = u->zero;
    const int64_t step = g->stride_w * span->c;
    const int64_t at = (span->ox * g->stride_w + shift - g->pad_left) * span->c;
    for (int64_t i = begin; i < end; i++)
        to[i] = line + at + i * step;
    for (int64_t i = end; i < span->count; i++)
        to[i] = u->zero;
    for (int64_t piece = 1; piece < span->pieces; piece++) {
        const float **next = to + piece * u->n_rows;
        for (int64_t i = 0; i < span->count; i++)
            next[i] = to[i] == u->zero ? u->zero : to[i] + piece * u->p->depth;
    }
}

static void conv_nhwc_copy(const float *from, int64_t n, float *to)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        memcpy(to + i, from + i, 4 * sizeof *to);
    for (; i < n; i++)
        to[i] = from[i];
}

/* A kernel row as one tap that is not contiguous in the input: a copy. */
static const float *conv_nhwc_copy_row(const conv_nhwc_unit *u, const float *line, int64_t x0,
                                       float *patch)
{
    const hg_conv2d *g = &u->p->s.g;
    const int64_t c = u->p->s.group_c;
    int64_t begin = 0, end = g->kw, together = 1; /* taps */
    if (g->dil_w == 1 && u->p->s.groups == 1) {
        begin = hg_max(0, hg_min(g->kw, -x0));
        end = hg_max(begin, hg_min(g->kw, g->w - x0));
        together = end - begin;
    }
    for (int64_t i = 0; i < g->kw * c; i++)
        patch[i] = 0;
    for (int64_t j = begin; j < end; j += together) {
        const int64_t x = x0 + j * g->dil_w;
        if (x >= 0 && x < g->w) conv_nhwc_copy(line + x * g->c, together * c, patch + j * c);
    }
    return patch;
}

/* A kernel row as one tap: in place where it lies inside the input and is contiguous. */
static void conv_nhwc_point_row(const conv_nhwc_unit *u, const conv_nhwc_span *span,
                                const float *line, int64_t k, const float **to)
{
    const hg_conv2d *g = &u->p->s.g;
    if (line == NULL) {
        for (int64_t i = 0; i < span->count; i++)
            to[i] = u->zero;
        return;
    }
    const int64_t begin = hg_max(0, hg_min(span->count, u->p->begin - span->ox));
    const int64_t end = hg_max(begin, hg_min(span->count, u->p->end - span->ox));
    const int64_t x0 = span->ox * g->stride_w - g->pad_left;
    for (int64_t i = begin; i < end; i++)
        to[i] = line + (x0 + i * g->stride_w) * g->c;
    for (int64_t i = 0; i < span->count; i++) {
        if (i == begin) i = end;
        if (i >= span->count) break;
        to[i] = conv_nhwc_copy_row(u, line, x0 + i * g->stride_w,
                                   span->patch + (i * u->p->taps + k) * u->p->depth);
    }
}

/* Kernel rows of all planes of a map. */
static void conv_nhwc_point_span(const conv_nhwc_unit *u, const conv_nhwc_span *span,
                                 int64_t picture, int64_t oy)
{
    const conv_nhwc_plan *p = u->p;
    const hg_conv2d *g = &p->s.g;
    int64_t k = 0; /* divisions would take longer than pointing */
    for (int64_t i = 0; i < p->s.z.kernel; i++) {
        const int64_t plane = hg_conv_plane(&p->s.z, picture, i);
        int64_t y = oy * g->stride_h - g->pad_top;
        for (const int64_t end = k + g->kh; k < end; k++, y += g->dil_h) {
            const bool is_inside = plane >= 0 && y >= 0 && y < g->h;
            const float *line = is_inside ? span->x + (plane * g->h + y) * g->w * span->c : NULL;
            if (p->by_row) {
                conv_nhwc_point_row(u, span, line, k, span->to + k * u->n_rows);
                continue;
            }
            for (int64_t j = 0; j < g->kw; j++)
                conv_nhwc_point_tap(u, span, line, j * g->dil_w,
                                    span->to + (k * g->kw + j) * p->pieces * u->n_rows);
        }
    }
}

static void conv_nhwc_point(conv_nhwc_unit *u)
{
    const conv_nhwc_plan *p = u->p;
    const hg_conv2d *g = &p->s.g;
    const int64_t group = p->by_row ? u->channel_group : 0;
    u->first = p->by_row ? 0 : u->channel_group * p->s.group_c;
    if (p->taps == 0 || (u->pointed == u->row && u->patched == group)) return;
    u->pointed = u->row;
    u->patched = group;
    for (int64_t i = 0; i < u->n_rows;) {
        const int64_t pixel = u->row + i, ox = pixel % g->ow;
        conv_nhwc_span span = {.ox = ox,
                               .count = hg_min(g->ow - ox, u->n_rows - i),
                               .to = u->rows + i,
                               .patch = u->patch + i * p->s.k};
        for (int64_t m = 0; m < p->s.maps; m++) {
            const holo_tensor *x = hg_conv_nhwc_map(u->a, m);
            span.c = x->dim[x->rank - 1];
            span.x = (const float *)x->data + (p->by_row ? group * p->s.group_c : 0);
            span.pieces = p->s.maps == 1 ? 1 : span.c / p->depth;
            conv_nhwc_point_span(u, &span, pixel / (g->oh * g->ow), pixel / g->ow % g->oh);
            span.to += span.pieces * u->n_rows;
        }
        i += span.count;
    }
}

/* ---- units ------------------------------------------------------------------------------- */

/* One k block: taps [tap, tap + step->taps), channels [offset, offset + depth). */
static void conv_nhwc_block(const conv_nhwc_unit *u, hg_gemm_step *step, int64_t tap, bool is_first,
                            bool is_last)
{
    const conv_nhwc_plan *p = u->p;
    const holo_tensor *w = &u->a->in[1];
    const int64_t sum_ld = p->group * HG_PANEL, k0 = tap * p->depth + step->offset - u->first;
    const int64_t size = step->is_half ? 2 : 4;
    step->row = u->rows + tap * u->n_rows;
    float edge[HG_GEMM_PANELS * HG_PANEL];
    step->ld = is_last ? u->ld : sum_ld;
    for (int64_t i = 0; i < u->panels; i += step->panels) {
        step->panels = hg_gemm_panels(step, u->panels - i);
        const int64_t panel = u->channel_group * p->s.panels + u->panel + i;
        const int64_t width = step->panels * HG_PANEL;
        step->b = (const char *)w->data + (panel * p->s.k + k0) * HG_PANEL * size;
        const int64_t col = u->channel_group * p->s.group_o + (u->panel + i) * HG_PANEL;
        const int64_t cols = hg_min(width, p->s.group_o - (u->panel + i) * HG_PANEL);
        step->sum = u->sum + i * HG_PANEL;
        step->sum_ld = sum_ld;
        step->narrow = cols <= HG_PANEL / 2;
        if (is_first) hg_gemm_begin_avx2(step, u->finish, col, cols, edge);
        step->c = (is_last ? u->c : u->sum) + i * HG_PANEL;
        step->cols = is_last && u->c != u->sum ? cols : width;
        if (is_last) hg_gemm_end_avx2(step, u->finish, u->a->out[0].data);
        step->fetch_c = is_last && p->is_large && p->s.panels > 4;
        /* next: the same block of the next panel, else the next block or the next unit */
        const int64_t after = i + step->panels < u->panels ? (panel + step->panels) * p->s.k + k0
                              : !is_last ? (panel - i) * p->s.k + k0 + step->taps * step->depth
                                         : (panel + step->panels) * p->s.k;
        hg_gemm_fetch(step, (const char *)w->data + after * HG_PANEL * size, u->n_rows);
        hg_gemm_panel(step, u->n_rows);
    }
}

static void conv_nhwc_unit_run(const conv_nhwc_unit *u)
{
    const conv_nhwc_plan *p = u->p;
    const bool is_half = hg_dtype_is(u->a->in[1].dtype, HOLO_F16);
    hg_gemm_step step = {.row_step = u->n_rows,
                         .b_step = is_half ? 32 : 64,
                         .b_panel = p->s.k * (is_half ? 32 : 64),
                         .is_wide = hg_gemm_is_wide(u->a),
                         .zero = u->zero,
                         .is_half = is_half,
                         .alpha = 1};
    if (p->taps == 0) {
        conv_nhwc_block(u, &step, 0, true, true);
        return;
    }
    /* as many taps as fit a block, or a part of one */
    const int64_t most = hg_gemm_depth(step.is_wide), together = hg_max(1, most / p->depth);
    const int64_t parts = hg_ceil_div(p->depth, most), part = hg_ceil_div(p->depth, parts);
    for (int64_t tap = 0; tap < p->taps; tap += together) {
        step.taps = hg_min(together, p->taps - tap);
        for (int64_t c = 0; c < p->depth; c += part) {
            step.offset = u->first + c;
            step.depth = hg_min(part, p->depth - c);
            const bool is_last = tap + step.taps == p->taps && c + step.depth == p->depth;
            conv_nhwc_block(u, &step, tap, tap == 0 && c == 0, is_last);
        }
    }
}

/* ---- few outputs ------------------------------------------------------------------------- */

/* Columns of the panel as rows; outputs that do not exist are zero. */
static void conv_nhwc_few_weights(const conv_nhwc_unit *u)
{
    const holo_tensor *w = &u->a->in[1];
    const bool is_half = hg_dtype_is(w->dtype, HOLO_F16);
    const int64_t k = u->p->s.k;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < CONV_NHWC_FEW; j++) /* what pads a panel is zero */
            u->few[j * k + i] = is_half ? _cvtsh_ss(((const uint16_t *)w->data)[i * HG_PANEL + j])
                                        : ((const float *)w->data)[i * HG_PANEL + j];
}

/* `outputs` of as many pixels from `first` on as make CONV_NHWC_DOTS; the last pixel of the unit
 * stands in for those behind it. */
HG_INLINE void conv_nhwc_dots(const int outputs, const conv_nhwc_unit *u, int64_t first)
{
    const conv_nhwc_plan *p = u->p;
    const int pixels = CONV_NHWC_DOTS / outputs;
    const int64_t count = hg_min(pixels, u->n_rows - first), depth = p->depth, k = p->s.k;
    __m256 sum[CONV_NHWC_DOTS];
    HG_GEMM_UNROLL
    for (int i = 0; i < CONV_NHWC_DOTS; i++)
        sum[i] = _mm256_setzero_ps();
    const float *w = u->few;
    for (int64_t tap = 0; tap < p->taps; tap++, w += depth) {
        const float *x[CONV_NHWC_DOTS];
        HG_GEMM_UNROLL
        for (int i = 0; i < pixels; i++)
            x[i] = u->rows[tap * u->n_rows + first + hg_min(i, count - 1)];
        for (int64_t c = 0; c < depth; c += 8) {
            __m256 y[CONV_NHWC_FEW];
            HG_GEMM_UNROLL
            for (int j = 0; j < outputs; j++)
                y[j] = _mm256_loadu_ps(w + j * k + c);
            HG_GEMM_UNROLL
            for (int i = 0; i < CONV_NHWC_DOTS; i++)
                sum[i] =
                    _mm256_fmadd_ps(_mm256_loadu_ps(x[i / outputs] + c), y[i % outputs], sum[i]);
        }
    }
    float to[CONV_NHWC_DOTS];
    HG_GEMM_UNROLL
    for (int i = 0; i < CONV_NHWC_DOTS; i += 4)
        _mm_storeu_ps(to + i, hg_vec8_sums(sum + i));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < p->s.g.o; j++)
            u->c[(first + i) * u->ld + j] = to[i * outputs + j];
}

/* The epilogue of outputs that lie side by side, as one row where that is possible. */
static void conv_nhwc_few_finish(const conv_nhwc_unit *u)
{
    if (u->finish == NULL) return;
    hg_epilogue_simple e = *u->finish;
    const int64_t o = u->p->s.g.o, at = u->row * o;
    float *out = u->a->out[0].data;
    if (o > 1 && (hg_epilogue_has_rows(&e) || hg_epilogue_has_columns(&e))) {
        hg_gemm_finish_all_avx2(&e, out, u->c, o, u->n_rows, 0, o);
        return;
    }
    /* Column by column: a division for each output takes longer than all else there is to do. */
    for (int64_t j = 0; e.bias != NULL && j < o; j++) {
        const float bias = e.bias[j] + (e.bias2 == NULL ? 0 : e.bias2[j]);
        for (int64_t i = j; i < u->n_rows * o; i += o)
            u->sum[i] = bias;
    }
    hg_gemm_finish_avx2(&e, e.bias == NULL ? NULL : u->sum, NULL,
                        hg_epilogue_residuals_at(&e, at, o), u->c, u->n_rows * o, 1, 0,
                        u->n_rows * o);
}

static void conv_nhwc_unit_few(const conv_nhwc_unit *u)
{
    const int64_t o = u->p->s.g.o, pixels = CONV_NHWC_DOTS / (o > 2 ? CONV_NHWC_FEW : o);
    for (int64_t first = 0; first < u->n_rows; first += pixels) {
        if (o == 1) conv_nhwc_dots(1, u, first);
        if (o == 2) conv_nhwc_dots(2, u, first);
        if (o > 2) conv_nhwc_dots(CONV_NHWC_FEW, u, first);
    }
    conv_nhwc_few_finish(u);
}

static void conv_nhwc_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    conv_nhwc_plan p;
    conv_nhwc_plan_of(a, &p);
    char *scratch = r.scratch;
    conv_nhwc_unit u = {.a = a, .p = &p, .pointed = -1};
    u.rows = (const float **)(void *)scratch;
    u.sum = (float *)(void *)(scratch += conv_nhwc_pointer_bytes(&p));
    u.zero = (const float *)(void *)memset(scratch += conv_nhwc_sum_bytes(&p), 0,
                                           conv_nhwc_zero_bytes(&p));
    u.patch = (float *)(void *)(scratch += conv_nhwc_zero_bytes(&p));
    u.few = (float *)(void *)(scratch += conv_nhwc_patch_bytes(&p));
    scratch += conv_nhwc_few_bytes(&p);
    if (p.is_few) conv_nhwc_few_weights(&u);
    hg_epilogue ep;
    hg_epilogue_simple simple;
    if (hg_epilogue_is_simple(a, hg_conv_nhwc_extra(a), &simple)) u.finish = &simple;
    const bool has_lane = a->code != NULL && u.finish == NULL;
    if (has_lane)
        hg_epilogue_init(&ep, a, hg_conv_nhwc_extra(a), 1, hg_lane_tile_fast_avx2, scratch);
    for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t group = i % p.groups, pixels = i / p.groups; /* channel group, row block */
        u.channel_group = pixels % p.s.groups;
        u.row = hg_cut_at(&p.row, pixels / p.s.groups);
        u.n_rows = hg_cut_at(&p.row, pixels / p.s.groups + 1) - u.row;
        u.panel = group * p.s.panels / p.groups;
        u.panels = (group + 1) * p.s.panels / p.groups - u.panel;
        conv_nhwc_point(&u);
#if !defined(__wasm__)
        if (p.is_huge && group == 0 && i + p.groups <= r.end) conv_nhwc_stream_rows(&u);
#endif
        const int64_t col = u.channel_group * p.s.group_o + u.panel * HG_PANEL;
        u.c = has_lane ? u.sum : (float *)a->out[0].data + u.row * p.s.g.o + col;
        u.ld = has_lane ? p.group * HG_PANEL : p.s.g.o;
        if (p.is_few)
            conv_nhwc_unit_few(&u);
        else
            conv_nhwc_unit_run(&u);
        if (!has_lane) continue;
        const hg_epilogue_tile tile = {
            .data = u.sum,
            .ld = u.ld,
            .dtype = HOLO_F32,
            .row = u.row,
            .rows = u.n_rows,
            .col = col,
            .cols = hg_min(u.panels * HG_PANEL, p.s.group_o - u.panel * HG_PANEL)};
        hg_epilogue_run(&ep, &tile);
    }
}

const hg_kernel hg_kernels_conv_nhwc_avx2[] = {
    {.name = "conv.nhwc",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_nhwc_check,
     .work = conv_nhwc_work,
     .cost = hg_conv_nhwc_cost,
     .run = conv_nhwc_run},
    {0},
};
