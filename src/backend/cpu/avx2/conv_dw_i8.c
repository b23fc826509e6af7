/* conv_dw_i8.c - conv.dw.i8 with AVX2: taps in pairs, two products of 16-bit numbers at once.
 *
 * Weights, less their zero points, are widened and interleaved once for a range of output rows;
 * codes become unsigned, and what their zero point adds is taken away at the start. 16 channels at
 * a time; the last 16 may overlap those before, fewer than 16 channels are done one by one.
 *
 * Windows of 3 x 3 that go on by 1 or 2 share columns: rows 0 and 1 of a column are paired, and row
 * 2 of two neighbours; of those that go on by 1 two pixels are done at a time. Sums become codes in
 * registers where the epilogue is a factor for each channel. */
#include "backend/cpu/avx2/conv_dw_i8.h"

#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "backend/cpu/avx2/requant.h"
#include "backend/cpu/vec8.h"

enum { CONV_DW_I8_BLOCK = 16, CONV_DW_I8_TILE_VALUES = 6144 };
/* Weights of a block of channels that slides: three pairs of rows 0 and 1, then of row 2 two for
 * even pixels and two for odd ones. */
enum { CONV_DW_I8_PAIR = 2 * CONV_DW_I8_BLOCK, CONV_DW_I8_SLIDE = 7 * CONV_DW_I8_PAIR };

typedef struct conv_dw_i8_plan {
    hg_conv2d g;
    int64_t taps, pairs;
    int64_t padded; /* channels, a multiple of 16 */
    int64_t pixels; /* of a tile */
    bool slides;
} conv_dw_i8_plan;

static conv_dw_i8_plan conv_dw_i8_plan_of(const hg_args *a)
{
    conv_dw_i8_plan p = {.g = hg_conv2d_of(a)};
    p.taps = p.g.kh * p.g.kw;
    p.pairs = (p.taps + 1) / 2;
    p.padded = (int64_t)hg_align_up((size_t)p.g.c, CONV_DW_I8_BLOCK);
    p.pixels = hg_max(1, hg_min(p.g.ow, CONV_DW_I8_TILE_VALUES / hg_max(1, p.g.c)));
    p.slides = p.g.kh == 3 && p.g.kw == 3 && p.g.stride_w <= 2 && p.g.dil_w == 1 &&
               p.g.c >= CONV_DW_I8_BLOCK;
    return p;
}

/* Scratch: sums of a tile, where sums start, factors, weights arranged and plain, pointers, codes
 * of the padding, epilogue. */
static size_t conv_dw_i8_sum_bytes(const conv_dw_i8_plan *p)
{
    return hg_align_up((size_t)(p->pixels * p->g.c) * sizeof(int32_t), HG_ALIGN);
}

static size_t conv_dw_i8_start_bytes(const conv_dw_i8_plan *p)
{
    return (size_t)p->padded * sizeof(int32_t);
}

static size_t conv_dw_i8_weight_bytes(const conv_dw_i8_plan *p)
{
    const int64_t numbers = p->slides ? CONV_DW_I8_SLIDE / CONV_DW_I8_BLOCK : p->pairs * 2;
    return hg_align_up((size_t)(numbers * p->padded) * sizeof(int16_t), HG_ALIGN);
}

static size_t conv_dw_i8_plain_bytes(const conv_dw_i8_plan *p)
{
    return hg_align_up((size_t)(p->pairs * 2 * p->padded) * sizeof(int16_t), HG_ALIGN);
}

static size_t conv_dw_i8_pointer_bytes(const conv_dw_i8_plan *p)
{
    return hg_align_up((size_t)(p->pairs * 2) * sizeof(const uint8_t *), HG_ALIGN);
}

size_t hg_conv_dw_i8_scratch_avx2(const hg_args *a)
{
    const conv_dw_i8_plan p = conv_dw_i8_plan_of(a);
    if (hg_conv_dw_i8_units(a) == 0) return 0;
    return conv_dw_i8_sum_bytes(&p) + 2 * conv_dw_i8_start_bytes(&p) + conv_dw_i8_weight_bytes(&p) +
           conv_dw_i8_plain_bytes(&p) + conv_dw_i8_pointer_bytes(&p) +
           hg_align_up((size_t)p.padded, HG_ALIGN) + hg_epilogue_scratch(a);
}

typedef struct conv_dw_i8_work {
    conv_dw_i8_plan p;
    int32_t *sum;
    /* [blocks][16]: of channels 0-3, 8-11, then the others, as unpacking has them */
    int32_t *start;
    float *scale;              /* the same, with requant */
    const hg_requant *requant; /* NULL: sums are stored */
    int16_t *plain;            /* [2 pairs][padded] */
    int16_t *weights;          /* [blocks of channels][pairs][16][2] */
    const uint8_t **tap;
    uint8_t *padding;
    uint8_t flip; /* makes codes unsigned */
} conv_dw_i8_work;

/* Weights of each tap, less their zero points; what is beyond taps and channels is 0. */
static void conv_dw_i8_widen(const hg_args *a, const conv_dw_i8_work *w)
{
    const conv_dw_i8_plan *p = &w->p;
    const int32_t lift = a->in[1].dtype == HOLO_I8 ? HG_CODE_LIFT : 0;
    memset(w->plain, 0, conv_dw_i8_plain_bytes(p));
    for (int64_t tap = 0; tap < p->taps; tap++) {
        const uint8_t *from = (const uint8_t *)a->in[1].data + tap * p->g.c;
        int16_t *to = w->plain + tap * p->padded;
        for (int64_t c = 0; c < p->g.c; c++)
            to[c] = (int16_t)((from[c] ^ lift) - lift);
        if (!hg_args_has(a, HG_IGEMM_ZERO_B)) continue;
        const uint8_t *zero = a->in[HG_IGEMM_ZERO_B].data;
        const int64_t step = holo_tensor_count(&a->in[HG_IGEMM_ZERO_B]) != 1;
        for (int64_t c = 0; c < p->g.c; c++)
            to[c] = (int16_t)(to[c] - ((zero[c * step] ^ lift) - lift));
    }
}

/* Of 16 channels two taps side by side, in the order of unpacking. */
static void conv_dw_i8_interleave(const conv_dw_i8_work *w, int64_t c, int64_t first,
                                  int64_t second, int16_t *to)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)(w->plain + first * w->p.padded + c));
    const __m256i y = _mm256_loadu_si256((const __m256i *)(w->plain + second * w->p.padded + c));
    _mm256_storeu_si256((__m256i *)to, _mm256_unpacklo_epi16(x, y));
    _mm256_storeu_si256((__m256i *)to + 1, _mm256_unpackhi_epi16(x, y));
}

/* Weights by blocks of channels: pairs of taps as they come, or those of a window that slides, for
 * which tap 9 has no weight. */
static void conv_dw_i8_arrange(const conv_dw_i8_work *w, int64_t pairs)
{
    static const uint8_t taps[7][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 7}, {8, 9}, {9, 6}, {7, 8}};
    const conv_dw_i8_plan *p = &w->p;
    int16_t *to = w->weights;
    for (int64_t k = 0; k < p->padded; k += CONV_DW_I8_BLOCK)
        for (int64_t i = 0; i < pairs; i++, to += CONV_DW_I8_PAIR) {
            const int64_t c = p->g.c < CONV_DW_I8_BLOCK ? 0 : hg_min(k, p->g.c - CONV_DW_I8_BLOCK);
            conv_dw_i8_interleave(w, c, p->slides ? taps[i][0] : 2 * i,
                                  p->slides ? taps[i][1] : 2 * i + 1, to);
        }
}

/* Of few channels: what the sums of each begin with. */
static void conv_dw_i8_start_few(const conv_dw_i8_work *w, uint8_t zero)
{
    for (int64_t c = 0; c < w->p.g.c; c++) {
        uint32_t sum = 0;
        for (int64_t tap = 0; tap < w->p.taps; tap++)
            sum -= (uint32_t)(w->plain[tap * w->p.padded + c] * zero);
        w->start[c] = (int32_t)sum;
    }
}

/* Of a block of channels, whose sums are those of the pairs of weights, in their order; the first
 * `pairs` have every tap once. */
static void conv_dw_i8_start_block(const conv_dw_i8_work *w, int64_t k, const int16_t *weights,
                                   int64_t pairs, uint8_t zero)
{
    const hg_requant *q = w->requant;
    const int64_t c = hg_min(k, w->p.g.c - CONV_DW_I8_BLOCK);
    const __m256i *pair = (const __m256i *)(const void *)weights;
    const __m256i less = _mm256_set1_epi16((int16_t)-zero);
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int64_t i = 0; i < pairs; i++, pair += 2) {
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_loadu_si256(pair), less));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_loadu_si256(pair + 1), less));
    }
    if (q != NULL) {
        const __m256i x = hg_requant_bias(q, c), y = hg_requant_bias(q, c + 8);
        const __m256 u = hg_requant_scale(q, c), v = hg_requant_scale(q, c + 8);
        low = _mm256_add_epi32(low, _mm256_permute2x128_si256(x, y, 0x20));
        high = _mm256_add_epi32(high, _mm256_permute2x128_si256(x, y, 0x31));
        _mm256_storeu_ps(w->scale + k, _mm256_permute2f128_ps(u, v, 0x20));
        _mm256_storeu_ps(w->scale + k + 8, _mm256_permute2f128_ps(u, v, 0x31));
    }
    _mm256_storeu_si256((__m256i *)(void *)(w->start + k), low);
    _mm256_storeu_si256((__m256i *)(void *)(w->start + k) + 1, high);
}

static void conv_dw_i8_prepare(const hg_args *a, const conv_dw_i8_work *w)
{
    const conv_dw_i8_plan *p = &w->p;
    const uint8_t zero = hg_igemm_zero(a, 0);
    const int64_t pairs = p->slides ? 7 : p->pairs;
    const int16_t *weights = w->weights;
    conv_dw_i8_widen(a, w);
    conv_dw_i8_arrange(w, pairs);
    if (p->g.c < CONV_DW_I8_BLOCK) {
        conv_dw_i8_start_few(w, zero);
    } else {
        for (int64_t k = 0; k < p->padded;
             k += CONV_DW_I8_BLOCK, weights += pairs * CONV_DW_I8_PAIR)
            conv_dw_i8_start_block(w, k, weights, p->slides ? 5 : pairs, zero);
    }
    memset(w->padding, zero ^ w->flip, (size_t)p->padded);
}

static void conv_dw_i8_point(const conv_dw_i8_work *w, const uint8_t *image, int64_t oy, int64_t ox)
{
    const hg_conv2d *g = &w->p.g;
    int64_t t = 0;
    for (int64_t i = 0; i < g->kh; i++)
        for (int64_t j = 0; j < g->kw; j++, t++) {
            const int64_t iy = oy * g->stride_h + i * g->dil_h - g->pad_top;
            const int64_t ix = ox * g->stride_w + j * g->dil_w - g->pad_left;
            const bool inside = iy >= 0 && iy < g->h && ix >= 0 && ix < g->w;
            w->tap[t] = inside ? image + (iy * g->w + ix) * g->c : w->padding;
        }
    if (t < 2 * w->p.pairs) w->tap[t] = w->padding; /* its weights are 0 */
}

HG_INLINE __m256i conv_dw_i8_load(const uint8_t *x, __m128i flip)
{
    const __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)x);
    return _mm256_cvtepu8_epi16(_mm_xor_si128(codes, flip));
}

/* Two numbers of each of 16 channels side by side. */
typedef struct conv_dw_i8_both {
    __m256i low, high;
} conv_dw_i8_both;

HG_INLINE conv_dw_i8_both conv_dw_i8_join(__m256i x, __m256i y)
{
    return (conv_dw_i8_both){_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y)};
}

HG_INLINE void conv_dw_i8_add(conv_dw_i8_both *sum, conv_dw_i8_both x, const int16_t *weights)
{
    const __m256i *v = (const __m256i *)(const void *)weights;
    sum->low = _mm256_add_epi32(sum->low, _mm256_madd_epi16(x.low, _mm256_loadu_si256(v)));
    sum->high = _mm256_add_epi32(sum->high, _mm256_madd_epi16(x.high, _mm256_loadu_si256(v + 1)));
    HG_WIDE_NOW(sum->low, sum->high); /* in this order, or more is alive than there are registers */
}

/* A block of channels: its number, the first of them, and its weights. */
typedef struct conv_dw_i8_channels {
    int64_t block, c;
    const int16_t *weights;
} conv_dw_i8_channels;

HG_INLINE conv_dw_i8_both conv_dw_i8_start(const conv_dw_i8_work *w, const conv_dw_i8_channels *b)
{
    const __m256i *v = (const __m256i *)(const void *)(w->start + b->block * CONV_DW_I8_BLOCK);
    return (conv_dw_i8_both){_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
}

/* Sums of a pixel, in the order of its channels. */
HG_INLINE void conv_dw_i8_store(int32_t *sum, conv_dw_i8_both x)
{
    __m256i *to = (__m256i *)(void *)sum;
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(x.low, x.high, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(x.low, x.high, 0x31));
}

/* The same as codes of 16 bits: packing undoes what unpacking did. */
HG_INLINE __m256i conv_dw_i8_codes(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,
                                   conv_dw_i8_both x)
{
    const float *scale = w->scale + b->block * CONV_DW_I8_BLOCK;
    return hg_requant_shorts(w->requant,
                             _mm256_mul_ps(_mm256_cvtepi32_ps(x.low), _mm256_loadu_ps(scale)),
                             _mm256_mul_ps(_mm256_cvtepi32_ps(x.high), _mm256_loadu_ps(scale + 8)));
}

/* Two pixels, or one: to sums `first` of the tile, or codes `pixel` of the output. */
HG_INLINE void conv_dw_i8_finish(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,
                                 int64_t first, int64_t pixel, const int count, conv_dw_i8_both x,
                                 conv_dw_i8_both y)
{
    const int64_t channels = w->p.g.c;
    if (w->requant == NULL) {
        conv_dw_i8_store(w->sum + first * channels + b->c, x);
        if (count == 2) conv_dw_i8_store(w->sum + (first + 1) * channels + b->c, y);
        return;
    }
    const __m256i left = conv_dw_i8_codes(w, b, x);
    const __m256i right = count == 2 ? conv_dw_i8_codes(w, b, y) : left;
    const __m256i codes = _mm256_permute4x64_epi64(hg_requant_bytes(w->requant, left, right), 0xd8);
    uint8_t *out = w->requant->out + pixel * channels + b->c;
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(codes));
    if (count == 2)
        _mm_storeu_si128((__m128i *)(void *)(out + channels), _mm256_extracti128_si256(codes, 1));
}

/* One pixel, tap by tap. Unpacking leaves channels 0-3 and 8-11 in the first sum, the others in the
 * second. */
HG_INLINE void conv_dw_i8_block(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,
                                int64_t first, int64_t pixel)
{
    const __m128i flip = _mm_set1_epi8((char)w->flip);
    conv_dw_i8_both both = conv_dw_i8_start(w, b);
    for (int64_t pair = 0; pair < w->p.pairs; pair++) {
        const __m256i x = conv_dw_i8_load(w->tap[2 * pair] + b->c, flip);
        const __m256i y = conv_dw_i8_load(w->tap[2 * pair + 1] + b->c, flip);
        conv_dw_i8_add(&both, conv_dw_i8_join(x, y), b->weights + pair * CONV_DW_I8_PAIR);
    }
    conv_dw_i8_finish(w, b, first, pixel, 1, both, both);
}

static void conv_dw_i8_few(const conv_dw_i8_work *w, int32_t *sum)
{
    const conv_dw_i8_plan *p = &w->p;
    for (int64_t c = 0; c < p->g.c; c++) {
        uint32_t total = (uint32_t)w->start[c];
        for (int64_t t = 0; t < p->taps; t++)
            total += (uint32_t)((w->tap[t][c] ^ w->flip) * w->plain[t * p->padded + c]);
        sum[c] = (int32_t)total;
    }
}

static conv_dw_i8_channels conv_dw_i8_channels_of(const conv_dw_i8_work *w, int64_t block)
{
    const int64_t numbers = w->p.slides ? CONV_DW_I8_SLIDE : w->p.pairs * CONV_DW_I8_PAIR;
    return (conv_dw_i8_channels){.block = block,
                                 .c = hg_min(block * CONV_DW_I8_BLOCK, w->p.g.c - CONV_DW_I8_BLOCK),
                                 .weights = w->weights + block * numbers};
}

static void conv_dw_i8_pixel(const conv_dw_i8_work *w, int64_t first, int64_t pixel)
{
    const int64_t channels = w->p.g.c;
    if (channels < CONV_DW_I8_BLOCK) {
        conv_dw_i8_few(w, w->sum + first * channels);
        return;
    }
    for (int64_t i = 0; i * CONV_DW_I8_BLOCK < channels; i++) {
        const conv_dw_i8_channels b = conv_dw_i8_channels_of(w, i);
        conv_dw_i8_block(w, &b, first, pixel);
    }
}

/* ---- windows that slide ------------------------------------------------------------------- */

/* Rows of a window: outside the image all columns are the padding. */
typedef struct conv_dw_i8_rows {
    const uint8_t *at[3];
    int64_t step[3]; /* from column to column */
} conv_dw_i8_rows;

/* Where a column begins in each row, at the channels of a block. */
typedef struct conv_dw_i8_column {
    const uint8_t *a, *b, *c;
} conv_dw_i8_column;

HG_INLINE conv_dw_i8_column conv_dw_i8_column_of(const conv_dw_i8_work *w, const conv_dw_i8_rows *r,
                                                 int64_t x, int64_t c)
{
    if (x < 0 || x >= w->p.g.w)
        return (conv_dw_i8_column){w->padding + c, w->padding + c, w->padding + c};
    return (conv_dw_i8_column){r->at[0] + x * r->step[0] + c, r->at[1] + x * r->step[1] + c,
                               r->at[2] + x * r->step[2] + c};
}

/* Two columns of a window: rows 0 and 1 of each, and row 2 of both. */
typedef struct conv_dw_i8_columns {
    conv_dw_i8_both left, right, last;
} conv_dw_i8_columns;

HG_INLINE conv_dw_i8_columns conv_dw_i8_columns_of(conv_dw_i8_column left, conv_dw_i8_column right,
                                                   __m128i flip)
{
    return (conv_dw_i8_columns){
        conv_dw_i8_join(conv_dw_i8_load(left.a, flip), conv_dw_i8_load(left.b, flip)),
        conv_dw_i8_join(conv_dw_i8_load(right.a, flip), conv_dw_i8_load(right.b, flip)),
        conv_dw_i8_join(conv_dw_i8_load(left.c, flip), conv_dw_i8_load(right.c, flip))};
}

/* Two pixels beside each other, of the columns before and two more, which become *before. */
HG_INLINE void conv_dw_i8_two(const conv_dw_i8_work *w, const conv_dw_i8_channels *b, __m128i flip,
                              conv_dw_i8_column left, conv_dw_i8_column right,
                              conv_dw_i8_columns *before, conv_dw_i8_both *even,
                              conv_dw_i8_both *odd)
{
    const int16_t *weights = b->weights;
    *even = *odd = conv_dw_i8_start(w, b);
    conv_dw_i8_add(even, before->left, weights);
    conv_dw_i8_add(even, before->last, weights + 3 * CONV_DW_I8_PAIR);
    conv_dw_i8_add(odd, before->last, weights + 5 * CONV_DW_I8_PAIR);
    conv_dw_i8_add(even, before->right, weights + CONV_DW_I8_PAIR);
    conv_dw_i8_add(odd, before->right, weights);
    before->left = conv_dw_i8_join(conv_dw_i8_load(left.a, flip), conv_dw_i8_load(left.b, flip));
    conv_dw_i8_add(even, before->left, weights + 2 * CONV_DW_I8_PAIR);
    conv_dw_i8_add(odd, before->left, weights + CONV_DW_I8_PAIR);
    before->right = conv_dw_i8_join(conv_dw_i8_load(right.a, flip), conv_dw_i8_load(right.b, flip));
    conv_dw_i8_add(odd, before->right, weights + 2 * CONV_DW_I8_PAIR);
    before->last = conv_dw_i8_join(conv_dw_i8_load(left.c, flip), conv_dw_i8_load(right.c, flip));
    conv_dw_i8_add(even, before->last, weights + 4 * CONV_DW_I8_PAIR);
    conv_dw_i8_add(odd, before->last, weights + 6 * CONV_DW_I8_PAIR);
}

/* Pixels [ox, ox + count) of a row; `pixel` is the first of them. */
HG_INLINE void conv_dw_i8_slide(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,
                                const conv_dw_i8_rows *r, int64_t ox, int64_t count, int64_t pixel,
                                const bool is_signed)
{
    const __m128i flip = _mm_set1_epi8(is_signed ? (char)HG_CODE_LIFT : 0);
    const int64_t x = ox - w->p.g.pad_left, step[3] = {r->step[0], r->step[1], r->step[2]};
    conv_dw_i8_both even, odd;
    conv_dw_i8_columns before = conv_dw_i8_columns_of(
        conv_dw_i8_column_of(w, r, x, b->c), conv_dw_i8_column_of(w, r, x + 1, b->c), flip);
    for (int64_t i = 0; i < count; i += 2) {
        conv_dw_i8_column left = conv_dw_i8_column_of(w, r, x + i + 2, b->c);
        /* columns inside the image follow each other */
        for (; i + 1 < count && x + i >= -2 && x + i + 3 < w->p.g.w; i += 2) {
            const conv_dw_i8_column right = {left.a + step[0], left.b + step[1], left.c + step[2]};
            conv_dw_i8_two(w, b, flip, left, right, &before, &even, &odd);
            conv_dw_i8_finish(w, b, i, pixel + i, 2, even, odd);
            left = (conv_dw_i8_column){right.a + step[0], right.b + step[1], right.c + step[2]};
        }
        if (i >= count) return;
        left = conv_dw_i8_column_of(w, r, x + i + 2, b->c);
        conv_dw_i8_two(w, b, flip, left, conv_dw_i8_column_of(w, r, x + i + 3, b->c), &before,
                       &even, &odd);
        conv_dw_i8_finish(w, b, i, pixel + i, i + 1 < count ? 2 : 1, even, odd);
    }
}

/* The same of windows that go on by two columns: one of three is known. Of the last column of a
 * window row 2 has no partner, which has no weight. */
HG_INLINE void conv_dw_i8_leap(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,
                               const conv_dw_i8_rows *r, int64_t ox, int64_t count, int64_t pixel,
                               const bool is_signed)
{
    const __m128i flip = _mm_set1_epi8(is_signed ? (char)HG_CODE_LIFT : 0);
    const int64_t x = 2 * ox - w->p.g.pad_left;
    const int16_t *weights = b->weights;
    conv_dw_i8_column at = conv_dw_i8_column_of(w, r, x, b->c);
    conv_dw_i8_both upper =
        conv_dw_i8_join(conv_dw_i8_load(at.a, flip), conv_dw_i8_load(at.b, flip));
    __m256i third = conv_dw_i8_load(at.c, flip);
    for (int64_t i = 0; i < count; i++) {
        conv_dw_i8_both sum = conv_dw_i8_start(w, b);
        conv_dw_i8_add(&sum, upper, weights);
        at = conv_dw_i8_column_of(w, r, x + 2 * i + 1, b->c);
        upper = conv_dw_i8_join(conv_dw_i8_load(at.a, flip), conv_dw_i8_load(at.b, flip));
        conv_dw_i8_add(&sum, upper, weights + CONV_DW_I8_PAIR);
        upper = conv_dw_i8_join(third, conv_dw_i8_load(at.c, flip));
        conv_dw_i8_add(&sum, upper, weights + 3 * CONV_DW_I8_PAIR);
        at = conv_dw_i8_column_of(w, r, x + 2 * i + 2, b->c);
        third = conv_dw_i8_load(at.c, flip);
        conv_dw_i8_add(&sum, conv_dw_i8_join(third, third), weights + 4 * CONV_DW_I8_PAIR);
        upper = conv_dw_i8_join(conv_dw_i8_load(at.a, flip), conv_dw_i8_load(at.b, flip));
        conv_dw_i8_add(&sum, upper, weights + 2 * CONV_DW_I8_PAIR);
        conv_dw_i8_finish(w, b, i, pixel + i, 1, sum, sum);
    }
}

#define CONV_DW_I8_STRIP(name, flip)                                                               \
    static void conv_dw_i8_slide_##name(const conv_dw_i8_work *w, const conv_dw_i8_channels *b,    \
                                        const conv_dw_i8_rows *r, int64_t ox, int64_t count,       \
                                        int64_t pixel)                                             \
    {                                                                                              \
        if (w->p.g.stride_w == 1)                                                                  \
            conv_dw_i8_slide(w, b, r, ox, count, pixel, flip);                                     \
        else                                                                                       \
            conv_dw_i8_leap(w, b, r, ox, count, pixel, flip);                                      \
    }
CONV_DW_I8_STRIP(unsigned, false)
CONV_DW_I8_STRIP(signed, true)
#undef CONV_DW_I8_STRIP

static void conv_dw_i8_slides(const conv_dw_i8_work *w, const uint8_t *image, int64_t row,
                              int64_t ox, int64_t count)
{
    const hg_conv2d *g = &w->p.g;
    conv_dw_i8_rows r;
    for (int64_t i = 0; i < 3; i++) {
        const int64_t iy = row % g->oh * g->stride_h + i * g->dil_h - g->pad_top;
        const bool inside = iy >= 0 && iy < g->h;
        r.at[i] = inside ? image + iy * g->w * g->c : w->padding;
        r.step[i] = inside ? g->c : 0;
    }
    for (int64_t i = 0; i * CONV_DW_I8_BLOCK < g->c; i++) {
        const conv_dw_i8_channels b = conv_dw_i8_channels_of(w, i);
        (w->flip == 0 ? conv_dw_i8_slide_unsigned : conv_dw_i8_slide_signed)(w, &b, &r, ox, count,
                                                                             row * g->ow + ox);
    }
}

static void conv_dw_i8_row(const hg_args *a, const conv_dw_i8_work *w, const hg_igemm_end *end,
                           int64_t row)
{
    const hg_conv2d *g = &w->p.g;
    const uint8_t *image = (const uint8_t *)a->in[0].data + row / g->oh * g->h * g->w * g->c;
    for (int64_t ox = 0; ox < g->ow; ox += w->p.pixels) {
        const int64_t count = hg_min(w->p.pixels, g->ow - ox);
        if (w->p.slides) conv_dw_i8_slides(w, image, row, ox, count);
        for (int64_t i = 0; i < count && !w->p.slides; i++) {
            conv_dw_i8_point(w, image, row % g->oh, ox + i);
            conv_dw_i8_pixel(w, i, row * g->ow + ox + i);
        }
        const hg_epilogue_tile tile = {.data = w->sum,
                                       .ld = g->c,
                                       .dtype = HOLO_I32,
                                       .row = row * g->ow + ox,
                                       .rows = count,
                                       .col = 0,
                                       .cols = g->c};
        if (w->requant == NULL) hg_igemm_end_run(end, &tile);
    }
}

void hg_conv_dw_i8_run_avx2(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    conv_dw_i8_work w = {.p = conv_dw_i8_plan_of(a),
                         .flip = a->in[0].dtype == HOLO_I8 ? HG_CODE_LIFT : 0};
    char *scratch = r.scratch;
    w.sum = (int32_t *)(void *)scratch;
    w.start = (int32_t *)(void *)(scratch += conv_dw_i8_sum_bytes(&w.p));
    w.scale = (float *)(void *)(scratch += conv_dw_i8_start_bytes(&w.p));
    w.weights = (int16_t *)(void *)(scratch += conv_dw_i8_start_bytes(&w.p));
    w.plain = (int16_t *)(void *)(scratch += conv_dw_i8_weight_bytes(&w.p));
    w.tap = (const uint8_t **)(void *)(scratch += conv_dw_i8_plain_bytes(&w.p));
    w.padding = (uint8_t *)(scratch += conv_dw_i8_pointer_bytes(&w.p));
    scratch += hg_align_up((size_t)w.p.padded, HG_ALIGN);
    hg_igemm_end end;
    hg_igemm_end_init(&end, a, &hg_igemm_avx2, scratch);
    hg_requant requant;
    if (end.is_chain && end.finish.is_requant && end.finish.side_data == NULL &&
        w.p.g.c >= CONV_DW_I8_BLOCK) {
        requant = hg_requant_of(&end.finish);
        w.requant = &requant;
    }
    conv_dw_i8_prepare(a, &w);
    for (int64_t row = r.begin; row < r.end; row++)
        conv_dw_i8_row(a, &w, &end, row);
}

const hg_kernel hg_kernels_conv_dw_i8_avx2[] = {
    {.name = "conv.dw.i8",
     .cpu = HG_CPU_AVX2,
     .check = hg_conv_dw_i8_check,
     .units = hg_conv_dw_i8_units,
     .scratch = hg_conv_dw_i8_scratch_avx2,
     .cost = hg_conv_dw_i8_cost,
     .run = hg_conv_dw_i8_run_avx2},
    {0},
};
