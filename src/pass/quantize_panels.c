/* quantize_panels.c - weights as codes that lie in the panels of matmul.bits: 1 and 3 bits, and
 * books of 16 numbers.
 *
 * A book holds numbers of 8 bits. Those of float4e2m1 fit exactly (doubled); those of NF4 are
 * rounded, by at most 0.4 % of the largest; a palette is what k-means finds for the layer, on
 * weights in units of the largest of their block. */
#include "pass/quantize.h"

#include <math.h>

enum { PANELS_BOOK = 16, PANELS_LEVELS = 127, PANELS_ROUNDS = 40 };

static const int8_t panels_nf4[PANELS_BOOK] = {-127, -88, -67, -50, -36, -23, -12, 0,
                                               10,   20,  31,  43,  56,  71,  92,  127};
static const int8_t panels_mxfp4[PANELS_BOOK] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                 0, -1, -2, -3, -4, -6, -8, -12};

/* A layer on its way. */
typedef struct panels_layer {
    const hg_quantize_weights *w;
    holo_quantize mode;
    int8_t book[PANELS_BOOK];
    int32_t most;                           /* that a number of the book may be */
    uint8_t nearest[2 * PANELS_LEVELS + 1]; /* code by number, in steps of most / 127 */
    double weight[2 * PANELS_LEVELS + 1];   /* of numbers, for a palette */
} panels_layer;

static float panels_at(const hg_quantize_weights *w, int64_t c, int64_t i)
{
    return w->data[c * w->channel + i * w->step];
}

/* Levels that a number of 1 is, in units of `scale`. */
static double panels_factor(const panels_layer *p, double scale)
{
    return PANELS_LEVELS / (scale * p->most);
}

/* Where a number lies among the levels. */
static int panels_level(double x, double factor)
{
    const double whole = 6755399441055744.0, at = x * factor; /* see codes_round */
    return at < -PANELS_LEVELS  ? 0
           : at > PANELS_LEVELS ? 2 * PANELS_LEVELS
                                : (int)(at + whole - whole) + PANELS_LEVELS;
}

static void panels_nearest(panels_layer *p)
{
    for (int level = 0; level <= 2 * PANELS_LEVELS; level++) {
        const double x = (double)(level - PANELS_LEVELS) * p->most / PANELS_LEVELS;
        int best = 0;
        for (int k = 1; k < PANELS_BOOK; k++)
            if (fabs(x - p->book[k]) < fabs(x - p->book[best])) best = k;
        p->nearest[level] = (uint8_t)best;
    }
}

static float panels_largest(const hg_quantize_weights *w, int64_t c, int64_t from, int64_t n)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(panels_at(w, c, from + i)));
    return most;
}

/* How much each level weighs: the squared scales of the numbers that lie there. */
static void panels_count(panels_layer *p)
{
    const hg_quantize_weights *w = p->w;
    for (int64_t from = 0; from < w->each; from += HG_QUANTIZE_BLOCK)
        for (int64_t c = 0; c < w->channels; c++) {
            const int64_t n = hg_min(HG_QUANTIZE_BLOCK, w->each - from);
            const double most = (double)panels_largest(w, c, from, n);
            if (!(most > 0) || !isfinite(most)) continue;
            const double factor = panels_factor(p, most / PANELS_LEVELS);
            for (int64_t i = 0; i < n; i++)
                p->weight[panels_level((double)panels_at(w, c, from + i), factor)] += most * most;
        }
}

/* One round of k-means: each number of the book moves to the middle of what chose it. */
static bool panels_move(panels_layer *p)
{
    double sum[PANELS_BOOK] = {0}, weight[PANELS_BOOK] = {0};
    bool changed = false;
    for (int level = 0; level <= 2 * PANELS_LEVELS; level++) {
        sum[p->nearest[level]] += p->weight[level] * (level - PANELS_LEVELS);
        weight[p->nearest[level]] += p->weight[level];
    }
    for (int k = 0; k < PANELS_BOOK; k++) {
        if (!(weight[k] > 0)) continue;
        const int8_t x = (int8_t)nearbyint(sum[k] / weight[k]);
        changed |= x != p->book[k];
        p->book[k] = x;
    }
    return changed;
}

static void panels_make_book(panels_layer *p)
{
    const bool is_float = p->mode == HOLO_QUANTIZE_MXFP4;
    memcpy(p->book, is_float ? panels_mxfp4 : panels_nf4, PANELS_BOOK);
    p->most = is_float ? panels_mxfp4[7] : PANELS_LEVELS;
    panels_nearest(p);
    if (p->mode != HOLO_QUANTIZE_PALETTE) return;
    panels_count(p);
    for (int round = 0; round < PANELS_ROUNDS && panels_move(p); round++)
        panels_nearest(p);
}

/* Codes of one block under a scale; the squared error they leave. */
static double panels_try(const panels_layer *p, int64_t c, int64_t from, int64_t n, double scale,
                         uint8_t *codes)
{
    const double factor = panels_factor(p, scale);
    double error = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)panels_at(p->w, c, from + i);
        codes[i] = p->nearest[panels_level(x, factor)];
        const double d = x - scale * p->book[codes[i]];
        error += d * d;
    }
    return error;
}

/* The scale of the largest number or a little below; for float4e2m1 one of two powers of two. */
static float panels_block_book(const panels_layer *p, int64_t c, int64_t from, int64_t n,
                               uint8_t *codes)
{
    const bool is_float = p->mode == HOLO_QUANTIZE_MXFP4;
    const float most = panels_largest(p->w, c, from, n);
    uint8_t tried[HG_QUANTIZE_BLOCK];
    double least = INFINITY;
    float best = 1;
    if (!(most > 0) || !isfinite(most)) {
        (void)panels_try(p, c, from, n, 1, codes);
        return 1;
    }
    for (int k = 0; k < (is_float ? 2 : 8); k++) {
        /* the book is doubled, and its largest number is 4 to 6 */
        const double scale = is_float ? ldexp(1, ilogb((double)most) - 3 + k)
                                      : (double)most / PANELS_LEVELS * (1 - 0.03 * k);
        const double error = panels_try(p, c, from, n, scale, tried);
        if (!(error < least)) continue;
        least = error;
        best = (float)scale;
        memcpy(codes, tried, (size_t)n);
    }
    return best;
}

/* Signs, times the average size. */
static float panels_block_binary(const panels_layer *p, int64_t c, int64_t from, int64_t n,
                                 uint8_t *codes)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const float x = panels_at(p->w, c, from + i);
        codes[i] = x >= 0;
        sum += fabs((double)x);
    }
    return (float)(sum / (double)n);
}

static float panels_block(const panels_layer *p, int64_t c, int64_t from, int64_t n, uint8_t *codes)
{
    if (p->mode == HOLO_QUANTIZE_BINARY) return panels_block_binary(p, c, from, n, codes);
    if (hg_quantize_kind(p->mode) == HG_BITS_BOOK) return panels_block_book(p, c, from, n, codes);
    const hg_quantize_weights *w = p->w;
    return hg_quantize_group(p->mode, w->data + c * w->channel + from * w->step, n, w->step, codes)
        .scale;
}

static double panels_number(const panels_layer *p, uint8_t code)
{
    if (p->mode == HOLO_QUANTIZE_BINARY) return 2 * (double)code - 1;
    const hg_bits_kind kind = hg_quantize_kind(p->mode);
    return kind == HG_BITS_BOOK ? p->book[code] : (double)code - hg_bits_zero(kind);
}

/* Codes [channels][each] and scales [channels][groups]; the relative error. */
static double panels_codes(const panels_layer *p, int64_t groups, uint8_t *codes, float *scales)
{
    const hg_quantize_weights *w = p->w;
    double difference = 0, size = 0;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t c = 0; c < w->channels; c++) {
            const int64_t from = g * HG_QUANTIZE_BLOCK,
                          n = hg_min(HG_QUANTIZE_BLOCK, w->each - from);
            uint8_t *to = codes + c * w->each + from;
            const float scale = panels_block(p, c, from, n, to);
            scales[c * groups + g] = scale * w->alpha;
            for (int64_t i = 0; i < n; i++) {
                const double x = (double)panels_at(w, c, from + i);
                const double d = x - panels_number(p, to[i]) * (double)scale;
                difference += d * d;
                size += x * x;
            }
        }
    return size == 0 ? 0 : sqrt(difference / size);
}

holo_status hg_quantize_panels(hg_build *b, holo_quantize mode, const hg_quantize_weights *w,
                               hg_quantize_layer *layer, hg_value_id *made)
{
    const int64_t groups = hg_ceil_div(w->each, HG_QUANTIZE_BLOCK);
    panels_layer *p;
    uint8_t *codes;
    float *scales;
    HG_TRY(HG_NEW(b->ctx, 1, &p));
    HG_TRY(HG_NEW(b->ctx, (size_t)(w->channels * w->each), &codes));
    HG_TRY(HG_NEW(b->ctx, (size_t)(w->channels * groups), &scales));
    p->w = w;
    p->mode = mode;
    if (hg_quantize_kind(mode) == HG_BITS_BOOK) panels_make_book(p);
    layer->weight_error = panels_codes(p, groups, codes, scales);
    layer->weights = (uint64_t)(w->channels * w->each);
    layer->form = "panels of 32";
    const hg_bits_matrix matrix = {.kind = hg_quantize_kind(mode),
                                   .n = w->channels,
                                   .k = w->each,
                                   .group = HG_QUANTIZE_BLOCK,
                                   .codes = codes,
                                   .scales = scales,
                                   .book = p->book};
    *made = hg_build_matmul_bits(b, hg_build_in(b, 0), &matrix);
    return b->status;
}
