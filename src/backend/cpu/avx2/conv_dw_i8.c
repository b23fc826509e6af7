/* conv_dw_i8.c - conv.dw.i8 with AVX2: taps in pairs, two products of 16-bit numbers at once.
 *
 * Weights, less their zero points, are widened and interleaved once for a range of output rows;
 * codes become unsigned, and what their zero point adds is taken away at the start. 16 channels at
 * a time; the last 16 may overlap those before, fewer than 16 channels are done one by one. */
#include "backend/cpu/avx2/conv_dw_i8.h"

#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/vec8.h"

enum { CONV_DW_I8_BLOCK = 16, CONV_DW_I8_TILE_VALUES = 6144 };

typedef struct conv_dw_i8_plan {
    hg_conv2d g;
    int64_t taps, pairs;
    int64_t padded; /* channels, a multiple of 16 */
    int64_t pixels; /* of a tile */
} conv_dw_i8_plan;

static conv_dw_i8_plan conv_dw_i8_plan_of(const hg_args *a)
{
    conv_dw_i8_plan p = {.g = hg_conv2d_of(a)};
    p.taps = p.g.kh * p.g.kw;
    p.pairs = (p.taps + 1) / 2;
    p.padded = (int64_t)hg_align_up((size_t)p.g.c, CONV_DW_I8_BLOCK);
    p.pixels = hg_max(1, hg_min(p.g.ow, CONV_DW_I8_TILE_VALUES / hg_max(1, p.g.c)));
    return p;
}

/* Scratch: sums of a tile, start of a pixel, weights, pointers, codes of the padding, epilogue. */
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
    return conv_dw_i8_sum_bytes(&p) + conv_dw_i8_start_bytes(&p) + conv_dw_i8_weight_bytes(&p) +
           conv_dw_i8_pointer_bytes(&p) + hg_align_up((size_t)p.padded, HG_ALIGN) +
           hg_epilogue_scratch(a);
}

typedef struct conv_dw_i8_work {
    conv_dw_i8_plan p;
    int32_t *sum, *start;
    int16_t *weights; /* [pairs][padded][2] */
    const uint8_t **tap;
    uint8_t *padding;
    uint8_t flip; /* makes codes unsigned */
} conv_dw_i8_work;

static void conv_dw_i8_widen(const hg_args *a, const conv_dw_i8_work *w)
{
    const conv_dw_i8_plan *p = &w->p;
    const uint32_t zero = hg_igemm_zero(a, 0);
    for (int64_t c = 0; c < p->padded; c++) {
        uint32_t total = 0;
        for (int64_t tap = 0; tap < 2 * p->pairs; tap++) {
            const int32_t v = tap < p->taps && c < p->g.c ? hg_conv_dw_i8_weight(a, tap, c) : 0;
            w->weights[(tap / 2 * p->padded + c) * 2 + tap % 2] = (int16_t)v;
            total += (uint32_t)v;
        }
        w->start[c] = (int32_t)(0 - zero * total);
    }
    memset(w->padding, (uint8_t)zero ^ w->flip, (size_t)p->padded);
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

/* Channels [c, c + 16). Unpacking leaves 0-3 and 8-11 in the first sum, the others in the second.
 */
HG_INLINE void conv_dw_i8_block(const conv_dw_i8_work *w, int64_t c, int32_t *sum)
{
    const conv_dw_i8_plan *p = &w->p;
    const __m128i flip = _mm_set1_epi8((char)w->flip);
    __m256i first = _mm256_setzero_si256(), second = first;
    for (int64_t pair = 0; pair < p->pairs; pair++) {
        const __m256i x = conv_dw_i8_load(w->tap[2 * pair] + c, flip);
        const __m256i y = conv_dw_i8_load(w->tap[2 * pair + 1] + c, flip);
        const __m256i *v = (const __m256i *)(const void *)(w->weights + (pair * p->padded + c) * 2);
        const __m256i low = _mm256_loadu_si256(v), high = _mm256_loadu_si256(v + 1);
        first =
            _mm256_add_epi32(first, _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y),
                                                      _mm256_permute2x128_si256(low, high, 0x20)));
        second =
            _mm256_add_epi32(second, _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y),
                                                       _mm256_permute2x128_si256(low, high, 0x31)));
    }
    const __m256i *start = (const __m256i *)(const void *)(w->start + c);
    __m256i *to = (__m256i *)(void *)(sum + c);
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(start),
                                             _mm256_permute2x128_si256(first, second, 0x20)));
    _mm256_storeu_si256(to + 1, _mm256_add_epi32(_mm256_loadu_si256(start + 1),
                                                 _mm256_permute2x128_si256(first, second, 0x31)));
}

static void conv_dw_i8_few(const conv_dw_i8_work *w, int32_t *sum)
{
    const conv_dw_i8_plan *p = &w->p;
    for (int64_t c = 0; c < p->g.c; c++) {
        uint32_t total = (uint32_t)w->start[c];
        for (int64_t t = 0; t < p->taps; t++)
            total += (uint32_t)((w->tap[t][c] ^ w->flip) *
                                w->weights[(t / 2 * p->padded + c) * 2 + t % 2]);
        sum[c] = (int32_t)total;
    }
}

static void conv_dw_i8_pixel(const conv_dw_i8_work *w, int32_t *sum)
{
    const int64_t channels = w->p.g.c;
    if (channels < CONV_DW_I8_BLOCK) {
        conv_dw_i8_few(w, sum);
        return;
    }
    for (int64_t c = 0; c < channels; c += CONV_DW_I8_BLOCK)
        conv_dw_i8_block(w, hg_min(c, channels - CONV_DW_I8_BLOCK), sum);
}

static void conv_dw_i8_row(const hg_args *a, const conv_dw_i8_work *w, const hg_igemm_end *end,
                           int64_t row)
{
    const hg_conv2d *g = &w->p.g;
    const uint8_t *image = (const uint8_t *)a->in[0].data + row / g->oh * g->h * g->w * g->c;
    for (int64_t ox = 0; ox < g->ow; ox += w->p.pixels) {
        const int64_t count = hg_min(w->p.pixels, g->ow - ox);
        for (int64_t i = 0; i < count; i++) {
            conv_dw_i8_point(w, image, row % g->oh, ox + i);
            conv_dw_i8_pixel(w, w->sum + i * g->c);
        }
        const hg_epilogue_tile tile = {.data = w->sum,
                                       .ld = g->c,
                                       .dtype = HOLO_I32,
                                       .row = row * g->ow + ox,
                                       .rows = count,
                                       .col = 0,
                                       .cols = g->c};
        hg_igemm_end_run(end, &tile);
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
    w.weights = (int16_t *)(void *)(scratch += conv_dw_i8_start_bytes(&w.p));
    w.tap = (const uint8_t **)(void *)(scratch += conv_dw_i8_weight_bytes(&w.p));
    w.padding = (uint8_t *)(scratch += conv_dw_i8_pointer_bytes(&w.p));
    scratch += hg_align_up((size_t)w.p.padded, HG_ALIGN);
    hg_igemm_end end;
    hg_igemm_end_init(&end, a, &hg_igemm_avx2, scratch);
    conv_dw_i8_widen(a, &w);
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
