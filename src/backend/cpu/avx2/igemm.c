/* igemm.c - products of 8-bit codes with AVX2.
 *
 * pairs    vpmaddubsw adds two products of unsigned and signed codes in 16 bits; the compiler has
 *          proved that no such sum leaves them, or the quads of a panel where one may are found
 *          here and widened alone: few are, where weights lie like a bell (2 % of quads of a
 *          language model), and finding them costs 3 % of 48 rows. vpmaddwd by ones then adds two
 *          of these.
 * many     codes of A as 16-bit numbers, and so are the weights of a panel, once for all rows of a
 *          tile. vpmaddwd adds two products in 32 bits. For panels with many such quads.
 * wide     the same for few rows: weights are widened in registers, so codes of A go in the order
 *          (k0, k2), (k1, k3) of each quad.
 *
 * 128 x 384 x 384 on Zen 4, 10^9 products and sums a second (bench/op/codes): pairs 217 where all
 * are proved, 214 where none has to be widened. */
#include "backend/cpu/avx2/igemm.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx2/requant.h"
#include "backend/cpu/avx2/table_whole.h"
#include "kernel/pack.h"

enum { IGEMM_ROWS = 4, IGEMM_HALF = HG_PANEL / 2, IGEMM_HALVES = 8, IGEMM_STOPS = 256 };
enum { IGEMM_MANY_ROWS = 8 }; /* from here on widening a panel once pays */
typedef enum igemm_how { IGEMM_WIDE, IGEMM_PAIRS, IGEMM_MANY, IGEMM_HOWS } igemm_how;

HG_INLINE __m256i igemm_load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

/* Sums of half a panel before the first product. */
HG_INLINE __m256i igemm_start(const hg_igemm_tile *t, int64_t row, int64_t panel, int half)
{
    const int8_t *sums = t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads) - HG_QUAD_BYTES;
    __m256i start = _mm256_sub_epi32(
        _mm256_setzero_si256(),
        _mm256_mullo_epi32(igemm_load(sums + 32 * half), _mm256_set1_epi32(t->zero_a[row])));
    if (t->zero_b == NULL) return start;
    const __m256i zero = igemm_load(t->zero_b + panel * HG_PANEL + half * IGEMM_HALF);
    return _mm256_sub_epi32(start, _mm256_mullo_epi32(zero, _mm256_set1_epi32(t->rest[row])));
}

HG_INLINE __m256i igemm_quad(const uint8_t *a)
{
    int32_t quad;
    memcpy(&quad, a, sizeof quad);
    return _mm256_set1_epi32(quad);
}

/* One quad of `rows` rows times the same of `panels` panels, which lie `step` bytes apart: a panel
 * at a time, and of that a row at a time, so that sums of four rows stay in registers. */
HG_INLINE void igemm_pairs(const int rows, const int panels, __m256i (*sum)[IGEMM_HALVES],
                           const uint8_t *a, int64_t lda, const int8_t *b, int64_t step)
{
    const __m256i ones = _mm256_set1_epi16(1);
    HG_GEMM_UNROLL
    for (int p = 0; p < panels; p++) {
        const __m256i w0 = igemm_load(b + p * step), w1 = igemm_load(b + p * step + 32);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256i x = igemm_quad(a + i * lda);
            __m256i *s = &sum[i][2 * p];
            s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(_mm256_maddubs_epi16(x, w0), ones));
            s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(_mm256_maddubs_epi16(x, w1), ones));
        }
    }
}

/* A panel at a time, and of that a row at a time: its four vectors of weights, two of codes and the
 * sums of four rows are all the registers there are. */
HG_INLINE void igemm_wide(const int rows, const int panels, __m256i (*sum)[IGEMM_HALVES],
                          const uint8_t *a, int64_t lda, const int8_t *b, int64_t step)
{
    HG_GEMM_UNROLL
    for (int p = 0; p < panels; p++) {
        const __m256i w0 = igemm_load(b + p * step), w1 = igemm_load(b + p * step + 32);
        const __m256i even0 = _mm256_srai_epi16(_mm256_slli_epi16(w0, 8), 8);
        const __m256i even1 = _mm256_srai_epi16(_mm256_slli_epi16(w1, 8), 8);
        const __m256i odd0 = _mm256_srai_epi16(w0, 8), odd1 = _mm256_srai_epi16(w1, 8);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256i x = igemm_quad(a + i * lda), y = igemm_quad(a + i * lda + 4);
            __m256i *s = &sum[i][2 * p];
            s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(x, even0));
            s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(x, even1));
            s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(y, odd0));
            s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(y, odd1));
        }
    }
}

/* Weights as hg_igemm_widen_panel_avx2 makes them. */
HG_INLINE void igemm_many(const int rows, __m256i (*sum)[IGEMM_HALVES], const uint8_t *a,
                          int64_t lda, const int16_t *w)
{
    HG_GEMM_UNROLL
    for (int k = 0; k < 2; k++) {
        const __m256i w0 = igemm_load(w + k * 2 * HG_PANEL);
        const __m256i w1 = igemm_load(w + k * 2 * HG_PANEL + HG_PANEL);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256i x = igemm_quad(a + i * lda + k * HG_QUAD);
            __m256i left = _mm256_madd_epi16(x, w0), right = _mm256_madd_epi16(x, w1);
            HG_WIDE_NOW(left, right);
            sum[i][0] = _mm256_add_epi32(sum[i][0], left);
            sum[i][1] = _mm256_add_epi32(sum[i][1], right);
            HG_WIDE_NOW(sum[i][0], sum[i][1]);
        }
    }
}

/* The same for a quad whose pairs may leave 16 bits, codes widened on the spot. */
HG_INLINE void igemm_stop(const int rows, const int panels, __m256i (*sum)[IGEMM_HALVES],
                          const uint8_t *a, int64_t lda, const int8_t *b, int64_t step)
{
    const __m256i low = _mm256_set1_epi16(255);
    HG_GEMM_UNROLL
    for (int h = 0; h < 2 * panels; h++) {
        const __m256i w = igemm_load(b + h / 2 * step + h % 2 * 32);
        const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
        const __m256i odd = _mm256_srai_epi16(w, 8);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256i x = igemm_quad(a + i * lda);
            const __m256i two = _mm256_add_epi32(_mm256_madd_epi16(_mm256_and_si256(x, low), even),
                                                 _mm256_madd_epi16(_mm256_srli_epi16(x, 8), odd));
            sum[i][h] = _mm256_add_epi32(sum[i][h], two);
        }
    }
}

/* Quads of a panel with a pair that may leave 16 bits, in order. */
typedef struct igemm_stops {
    int32_t count;
    uint32_t at[IGEMM_STOPS];
} igemm_stops;

/* Finds them; false: they are too many to stop at. */
static bool igemm_find_stops(const int8_t *b, int64_t quads, igemm_stops *stops)
{
    const __m256i ones = _mm256_set1_epi8(1), limit = _mm256_set1_epi16(HG_PAIR_LIMIT);
    const int64_t most = hg_min(IGEMM_STOPS, quads / 8);
    stops->count = 0;
    for (int64_t q = 0; q < quads; q++, b += HG_QUAD_BYTES) {
        /* -128 stays 0x80, which is 128 to maddubs */
        const __m256i w0 = _mm256_abs_epi8(igemm_load(b)), w1 = _mm256_abs_epi8(igemm_load(b + 32));
        const __m256i pairs =
            _mm256_max_epi16(_mm256_maddubs_epi16(w0, ones), _mm256_maddubs_epi16(w1, ones));
        if (_mm256_movemask_epi8(_mm256_cmpgt_epi16(pairs, limit)) == 0) continue;
        if (stops->count == most || q > UINT32_MAX) return false;
        stops->at[stops->count++] = (uint32_t)q;
    }
    return true;
}

/* What the blocks of a panel share. */
typedef struct igemm_panel {
    __m256i start[2]; /* with is_even, of half a panel each */
    __m256 scale[2];
    const hg_requant *requant; /* NULL: sums are stored */
    igemm_stops stops;
} igemm_panel;

static void igemm_panel_init(igemm_panel *p, const hg_igemm_tile *t, int64_t panel)
{
    for (int h = 0; h < 2; h++) {
        const int64_t col = t->out_col + panel * HG_PANEL + h * IGEMM_HALF;
        p->start[h] = igemm_start(t, 0, panel, h);
        if (p->requant == NULL) continue;
        p->start[h] = _mm256_add_epi32(p->start[h], hg_requant_bias(p->requant, col));
        p->scale[h] = hg_requant_scale(p->requant, col);
    }
}

/* 16 sums of a row as codes of 16 bits, in the order of packing; `at`: the first in the output. */
HG_INLINE __m256i igemm_codes(const igemm_panel *p, const __m256i *sum, int64_t at)
{
    __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[0]), p->scale[0]);
    __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[1]), p->scale[1]);
    if (p->requant->side != NULL) {
        x = _mm256_add_ps(x, hg_requant_side(p->requant, at));
        y = _mm256_add_ps(y, hg_requant_side(p->requant, at + IGEMM_HALF));
    }
    return hg_requant_shorts(p->requant, x, y);
}

/* Codes of a tile in the output become entries: two panels of a row at a time, and the last of an
 * odd number in two rows. */
static void igemm_look(const hg_requant *q, const hg_igemm_tile *t, const __m256i *look)
{
    const int64_t cols = t->panels * HG_PANEL, even = cols / 32 * 32;
    uint8_t *out = q->out + t->out_row * q->columns + t->out_col;
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t k = 0; k < even; k += 32) {
            __m256i *at = (__m256i *)(void *)(out + i * q->columns + k);
            _mm256_storeu_si256(at, lookup_whole(look, _mm256_loadu_si256(at)));
        }
    for (int64_t i = 0; even < cols && i < t->rows; i += 2) {
        __m128i *at = (__m128i *)(void *)(out + i * q->columns + even);
        __m128i *other = i + 1 == t->rows ? at : (__m128i *)(void *)((uint8_t *)at + q->columns);
        const __m256i entries = lookup_whole(look, _mm256_loadu2_m128i(other, at));
        _mm_storeu_si128(at, _mm256_castsi256_si128(entries));
        if (other != at) _mm_storeu_si128(other, _mm256_extracti128_si256(entries, 1));
    }
}

/* Sums of a panel as codes, two rows at a time. */
HG_INLINE void igemm_requant(const int rows, const hg_igemm_tile *t, int64_t row, int64_t panel,
                             const igemm_panel *p, __m256i (*sum)[IGEMM_HALVES])
{
    const int64_t columns = p->requant->columns;
    int64_t at = (t->out_row + row) * columns + t->out_col + panel * HG_PANEL;
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i += 2, at += 2 * columns) {
        const bool is_last = i + 1 == rows;
        const __m256i x = igemm_codes(p, sum[i], at);
        const __m256i y = is_last ? x : igemm_codes(p, sum[i + 1], at + columns);
        const __m256i codes = _mm256_permutevar8x32_epi32(
            hg_requant_bytes(p->requant, x, y), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        uint8_t *out = p->requant->out + at;
        _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(codes));
        if (!is_last)
            _mm_storeu_si128((__m128i *)(void *)(out + columns),
                             _mm256_extracti128_si256(codes, 1));
    }
}

/* `rows` rows and `panels` panels from t's row and panel on. */
HG_INLINE void igemm_block(const int rows, const int panels, const igemm_how how,
                           const hg_igemm_tile *t, int64_t row, int64_t panel, const igemm_panel *p)
{
    const bool pairs = how == IGEMM_PAIRS;
    const int64_t step = hg_igemm_panel_bytes(t->quads);
    const int64_t lda = pairs ? t->lda : t->quads * HG_QUAD * 2;
    const uint8_t *a = (pairs ? t->a : (const uint8_t *)t->wide) + row * lda;
    const int8_t *b = t->b + panel * step;
    __m256i sum[IGEMM_ROWS][IGEMM_HALVES];
    HG_GEMM_UNROLL
    for (int h = 0; h < 2 * panels; h++) {
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++)
            sum[i][h] = t->is_even && panels == 1 ? p->start[h]
                                                  : igemm_start(t, row + i, panel + h / 2, h % 2);
    }
    for (int64_t q = 0, n = 0; q < t->quads; q++) {
        const int64_t end = pairs && n < p->stops.count ? p->stops.at[n++] : t->quads;
        for (; q < end; q++) {
            const int8_t *w = b + q * HG_QUAD_BYTES;
            /* a panel is read once from memory, then by all rows from the caches */
            if (panels == 1) _mm_prefetch((const char *)(w + step), _MM_HINT_T1);
            if (pairs)
                igemm_pairs(rows, panels, sum, a + q * HG_QUAD, lda, w, step);
            else if (how == IGEMM_WIDE)
                igemm_wide(rows, panels, sum, a + q * HG_QUAD * 2, lda, w, step);
            else
                igemm_many(rows, sum, a + q * HG_QUAD * 2, lda, t->panel + q * HG_QUAD_BYTES);
        }
        if (pairs && q < t->quads)
            igemm_stop(rows, panels, sum, a + q * HG_QUAD, lda, b + q * HG_QUAD_BYTES, step);
    }
    if (panels == 1 && p->requant != NULL) {
        igemm_requant(rows, t, row, panel, p, sum);
        return;
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        HG_GEMM_UNROLL
        for (int h = 0; h < 2 * panels; h++)
            _mm256_storeu_si256(
                (__m256i *)(void *)(t->c + (row + i) * t->ldc + (panel * 2 + h) * IGEMM_HALF),
                sum[i][h]);
    }
}

typedef void (*igemm_block_fn)(const hg_igemm_tile *t, int64_t row, int64_t panel,
                               const igemm_panel *p);

#define IGEMM_BLOCK(name, how, rows, panels)                                                       \
    static void igemm_##name##_##rows##x##panels(const hg_igemm_tile *t, int64_t row,              \
                                                 int64_t panel, const igemm_panel *p)              \
    {                                                                                              \
        igemm_block(rows, panels, how, t, row, panel, p);                                          \
    }
#define IGEMM_BLOCKS(name, how)                                                                    \
    IGEMM_BLOCK(name, how, 1, 1)                                                                   \
    IGEMM_BLOCK(name, how, 2, 1) IGEMM_BLOCK(name, how, 3, 1) IGEMM_BLOCK(name, how, 4, 1)
IGEMM_BLOCKS(wide, IGEMM_WIDE)
IGEMM_BLOCKS(pairs, IGEMM_PAIRS)
IGEMM_BLOCKS(many, IGEMM_MANY)
IGEMM_BLOCK(wide, IGEMM_WIDE, 1, 4)
IGEMM_BLOCK(pairs, IGEMM_PAIRS, 1, 4)
#undef IGEMM_BLOCKS
#undef IGEMM_BLOCK

/* Rows of A as 16-bit numbers, for many rows in their order, unless they are there. */
static void igemm_widen(const hg_igemm_tile *t)
{
    if (*t->is_wide) return;
    *t->is_wide = true;
    const bool in_order = t->rows >= IGEMM_MANY_ROWS;
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0,
                                           1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
    const int64_t width = t->quads * HG_QUAD;
    for (int64_t i = 0; i < t->rows; i++) {
        const uint8_t *a = t->a + i * t->lda;
        int16_t *to = t->wide + i * width;
        int64_t k = 0;
        for (; k + 16 <= width; k += 16) {
            const __m256i x =
                _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(a + k)));
            _mm256_storeu_si256((__m256i *)(void *)(to + k),
                                in_order ? x : _mm256_shuffle_epi8(x, order));
        }
        for (; k < width; k += HG_QUAD) {
            to[k] = a[k];
            to[k + 1] = a[k + (in_order ? 1 : 2)];
            to[k + 2] = a[k + (in_order ? 2 : 1)];
            to[k + 3] = a[k + 3];
        }
    }
}

/* How a panel is multiplied, and what that takes. */
static igemm_how igemm_ready(const hg_igemm_tile *t, int64_t panel, igemm_panel *p)
{
    const int8_t *b = t->b + panel * hg_igemm_panel_bytes(t->quads);
    igemm_panel_init(p, t, panel);
    if (t->pairs || (t->rows >= IGEMM_ROWS && igemm_find_stops(b, t->quads, &p->stops)))
        return IGEMM_PAIRS;
    igemm_widen(t);
    if (t->rows < IGEMM_MANY_ROWS) return IGEMM_WIDE;
    hg_igemm_widen_panel_avx2(b, t->quads, t->panel);
    return IGEMM_MANY;
}

static void igemm_tile(const hg_igemm_tile *t)
{
    static const igemm_block_fn table[IGEMM_HOWS][IGEMM_ROWS] = {
        {igemm_wide_1x1, igemm_wide_2x1, igemm_wide_3x1, igemm_wide_4x1},
        {igemm_pairs_1x1, igemm_pairs_2x1, igemm_pairs_3x1, igemm_pairs_4x1},
        {igemm_many_1x1, igemm_many_2x1, igemm_many_3x1, igemm_many_4x1}};
    const hg_requant requant = t->requant == NULL ? (hg_requant){0} : hg_requant_of(t->requant);
    igemm_panel p = {.requant = t->requant == NULL ? NULL : &requant};
    int64_t panel = 0;
    if (t->rows < IGEMM_ROWS && !t->pairs) igemm_widen(t);
    /* One row: four panels side by side hide the latency of a sum. */
    for (; t->rows == 1 && t->requant == NULL && panel + 4 <= t->panels; panel += 4)
        (t->pairs ? igemm_pairs_1x4 : igemm_wide_1x4)(t, 0, panel, &p);
    for (; panel < t->panels; panel++) {
        const igemm_how how = igemm_ready(t, panel, &p);
        for (int64_t row = 0; row < t->rows; row += IGEMM_ROWS)
            table[how][hg_min(IGEMM_ROWS, t->rows - row) - 1](t, row, panel, &p);
    }
    if (t->requant == NULL || t->requant->lookup == NULL) return;
    __m256i look[16];
    lookup_quarters(t->requant->lookup, look);
    igemm_look(&requant, t, look);
}

const hg_igemm_form hg_igemm_avx2 = {.tile = igemm_tile,
                                     .lane = hg_lane_run_avx2,
                                     .finish = hg_igemm_finish_avx2,
                                     .lookup = hg_table_bytes_avx2,
                                     .widens = true,
                                     .widens_panel = true,
                                     .requants = true,
                                     .looks = true};
