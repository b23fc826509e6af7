/* igemm_wide.c - products of 16-bit numbers and 8-bit codes with AVX2: vpmaddwd adds two products
 * in 32 bits. A panel of weights is widened once for all rows of a tile.
 *
 * Half as many products suffice (Winograd 1968), as
 *
 *   (a0 + b2)(a2 + b0) = a0 b0 + a2 b2 + a0 a2 + b0 b2
 *
 * where the sums of a0 a2 of a row and of b0 b2 of a column are found once. For four of k there are
 * three additions and one product then, instead of two and two: CPUs that multiply in two of four
 * pipes find the right one for each, which they miss at times when every second has to be one of
 * those. All is modulo 2^32, and a + b stays in 16 bits where |a| <= WIDE_MOST: rows beyond are
 * multiplied the plain way.
 *
 * Few rows are multiplied as the weights come: shifts inside pairs of bytes make (k0, k2) and
 * (k1, k3) of a column, and rows are put in that order once. So weights pass at memory speed, where
 * a widened panel takes twice as long. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "kernel/pack.h"

enum {
    WIDE_ROWS = HG_IGEMM_FEW,
    WIDE_PAIR = 2 * HG_PANEL,
    WIDE_MOST = INT16_MAX - HG_CODE_LIFT,
    WIDE_AHEAD = 1024 /* bytes of weights that are asked for */
};

HG_INLINE __m256i wide_load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

HG_INLINE void wide_store(void *to, __m256i v)
{
    _mm256_storeu_si256((__m256i *)to, v);
}

/* meet: sums of (k0, k1) times (k2, k3) of each column. */
HG_INLINE void wide_widen(const int8_t *b, int64_t quads, int16_t *to, __m256i *meet)
{
    const __m256i low = _mm256_set1_epi32(0xffff), high = _mm256_slli_epi32(low, 16);
    meet[0] = meet[1] = _mm256_setzero_si256();
    for (int64_t q = 0; q < quads; q++, b += HG_QUAD_BYTES, to += 2 * WIDE_PAIR) {
        HG_GEMM_UNROLL
        for (int half = 0; half < 2; half++) {
            /* of each column (k0, k2) and (k1, k3), then (k0, k1) and (k2, k3) */
            const __m256i w = wide_load(b + 32 * half), odd = _mm256_srai_epi16(w, 8);
            const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
            const __m256i first =
                _mm256_or_si256(_mm256_and_si256(even, low), _mm256_slli_epi32(odd, 16));
            const __m256i last =
                _mm256_or_si256(_mm256_srli_epi32(even, 16), _mm256_and_si256(odd, high));
            wide_store(to + half * HG_PANEL, first);
            wide_store(to + WIDE_PAIR + half * HG_PANEL, last);
            meet[half] = _mm256_add_epi32(meet[half], _mm256_madd_epi16(first, last));
        }
    }
}

void hg_igemm_widen_panel_avx2(const int8_t *b, int64_t quads, int16_t *to)
{
    __m256i meet[2];
    wide_widen(b, quads, to, meet);
}

/* Smallest and largest numbers of rows. */
typedef struct wide_limits {
    int32_t low, high;
} wide_limits;

/* Sum of k0 k2 + k1 k3 of all quads of a row, modulo 2^32. */
static uint32_t wide_meet_row(const int16_t *a, int64_t width, wide_limits *limits)
{
    uint32_t total = 0;
    int32_t low = limits->low, high = limits->high;
    int64_t k = 0;
#if defined(__AVX2__) /* whole vectors; elsewhere the compiler makes some of the loop below */
    __m256i sum = _mm256_setzero_si256(), least = sum, most = sum;
    uint32_t lanes[8];
    int16_t ends[2][16];
    for (; k + 16 <= width; k += 16) {
        const __m256i x = wide_load(a + k);
        /* (k0, k1, k2, k3) times (0, 0, k0, k1) */
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_slli_epi64(x, 32)));
        least = _mm256_min_epi16(least, x);
        most = _mm256_max_epi16(most, x);
    }
    wide_store(lanes, sum);
    wide_store(ends[0], least);
    wide_store(ends[1], most);
    for (int i = 0; i < 16; i++) {
        total += i < 8 ? lanes[i] : 0;
        low = ends[0][i] < low ? ends[0][i] : low;
        high = ends[1][i] > high ? ends[1][i] : high;
    }
#endif
    for (; k < width; k += HG_QUAD) {
        total += (uint32_t)(a[k] * a[k + 2]) + (uint32_t)(a[k + 1] * a[k + 3]);
        for (int i = 0; i < HG_QUAD; i++) {
            low = a[k + i] < low ? a[k + i] : low;
            high = a[k + i] > high ? a[k + i] : high;
        }
    }
    *limits = (wide_limits){low, high};
    return total;
}

bool hg_igemm_meet_avx2(const int16_t *a, int64_t width, int64_t rows, int32_t *rest)
{
    wide_limits limits = {0, 0};
    for (int64_t i = 0; i < rows; i++)
        rest[i] = (int32_t)(0 - wide_meet_row(a + i * width, width, &limits));
    return limits.low >= -WIDE_MOST && limits.high <= WIDE_MOST;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

HG_INLINE __m256i wide_two(const uint8_t *a)
{
    int32_t pair;
    memcpy(&pair, a, sizeof pair);
    return _mm256_set1_epi32(pair);
}

/* Four numbers of each row. */
HG_INLINE void wide_quad_plain(const int rows, __m256i (*sum)[2], const uint8_t *a, int64_t lda,
                               const int16_t *w)
{
    HG_GEMM_UNROLL
    for (int k = 0; k < 2; k++) {
        const __m256i w0 = wide_load(w + k * WIDE_PAIR);
        const __m256i w1 = wide_load(w + k * WIDE_PAIR + HG_PANEL);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256i x = wide_two(a + i * lda + k * HG_QUAD);
            sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(x, w0));
            sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(x, w1));
        }
    }
}

/* The same with half as many products. Other orders need more registers than there are. */
HG_INLINE void wide_quad_met(const int rows, __m256i (*sum)[2], const uint8_t *a, int64_t lda,
                             const int16_t *w)
{
    const __m256i p0 = wide_load(w), p1 = wide_load(w + HG_PANEL);
    const __m256i q0 = wide_load(w + WIDE_PAIR), q1 = wide_load(w + WIDE_PAIR + HG_PANEL);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        __m256i x = wide_two(a + i * lda), y = wide_two(a + i * lda + HG_QUAD);
        __m256i left = _mm256_add_epi16(x, q0), right = _mm256_add_epi16(y, p0);
        HG_WIDE_NOW(left, right);
        x = _mm256_add_epi16(x, q1);
        y = _mm256_add_epi16(y, p1);
        HG_WIDE_NOW(x, y);
        left = _mm256_madd_epi16(left, right);
        right = _mm256_madd_epi16(x, y);
        HG_WIDE_NOW(left, right);
        sum[i][0] = _mm256_add_epi32(sum[i][0], left);
        sum[i][1] = _mm256_add_epi32(sum[i][1], right);
        HG_WIDE_NOW(sum[i][0], sum[i][1]);
    }
}

HG_INLINE void wide_quad(const int rows, const bool is_met, __m256i (*sum)[2], const uint8_t *a,
                         int64_t lda, const int16_t *w)
{
    if (is_met)
        wide_quad_met(rows, sum, a, lda, w);
    else
        wide_quad_plain(rows, sum, a, lda, w);
}

/* Asks for a part of the next panel, which is widened at memory speed unless it is there by then.
 */
HG_INLINE void wide_ask(const int8_t *next, int64_t first, int64_t count)
{
    for (int64_t q = first; q < first + count; q++)
        _mm_prefetch((const char *)next + q * HG_QUAD_BYTES, _MM_HINT_T0);
}

/* `meet`: of the columns. */
HG_INLINE void wide_block(const int rows, const bool is_met, const hg_igemm_tile *t, int64_t row,
                          int64_t panel, const __m256i *meet)
{
    const uint8_t *a = t->a + row * t->lda;
    const int16_t *w = t->panel;
    __m256i sum[WIDE_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        sum[i][0] = sum[i][1] = _mm256_setzero_si256();
        if (!is_met) continue;
        sum[i][0] = _mm256_sub_epi32(_mm256_set1_epi32(t->rest[row + i]), meet[0]);
        sum[i][1] = _mm256_sub_epi32(_mm256_set1_epi32(t->rest[row + i]), meet[1]);
    }
    int64_t q = t->quads;
    for (; q >= 2; q -= 2, w += 4 * WIDE_PAIR, a += 4 * HG_QUAD) {
        wide_quad(rows, is_met, sum, a, t->lda, w);
        wide_quad(rows, is_met, sum, a + 2 * HG_QUAD, t->lda, w + 2 * WIDE_PAIR);
    }
    if (q != 0) wide_quad(rows, is_met, sum, a, t->lda, w);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        int32_t *c = t->c + (row + i) * t->ldc + panel * HG_PANEL;
        wide_store(c, sum[i][0]);
        wide_store(c + HG_PANEL / 2, sum[i][1]);
    }
}

/* Rows with k0, k2, k1, k3 of each quad side by side. */
static void wide_reorder(const hg_igemm_tile *t, int16_t *to)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t q = 0; q < t->quads; q++, to += HG_QUAD) {
            uint64_t x; /* k0 is lowest: all processors that run this are little-endian */
            memcpy(&x, t->a + i * t->lda + q * 2 * HG_QUAD, sizeof x);
            x = (x & 0xffff00000000ffffU) | (x << 16 & 0xffff00000000U) | (x >> 16 & 0xffff0000U);
            memcpy(to, &x, sizeof x);
        }
}

/* All rows of a tile that has few times one panel. */
HG_INLINE void wide_few(const int rows, const hg_igemm_tile *t, int64_t panel)
{
    const uint8_t *a = (const uint8_t *)t->panel;
    const int8_t *b = t->b + panel * hg_igemm_panel_bytes(t->quads);
    const int64_t lda = t->quads * 2 * HG_QUAD;
    __m256i sum[WIDE_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_si256();
    for (int64_t q = 0; q < t->quads; q++, a += 2 * HG_QUAD, b += HG_QUAD_BYTES) {
        _mm_prefetch((const char *)b + WIDE_AHEAD, _MM_HINT_T0);
        HG_GEMM_UNROLL
        for (int half = 0; half < 2; half++) {
            const __m256i w = wide_load(b + 32 * half), odd = _mm256_srai_epi16(w, 8);
            const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
            HG_GEMM_UNROLL
            for (int i = 0; i < rows; i++) {
                const __m256i both =
                    _mm256_add_epi32(_mm256_madd_epi16(wide_two(a + i * lda), even),
                                     _mm256_madd_epi16(wide_two(a + i * lda + HG_QUAD), odd));
                sum[i][half] = _mm256_add_epi32(sum[i][half], both);
            }
        }
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        wide_store(t->c + i * t->ldc + panel * HG_PANEL, sum[i][0]);
        wide_store(t->c + i * t->ldc + panel * HG_PANEL + HG_PANEL / 2, sum[i][1]);
    }
}

void hg_igemm_few_avx2(const hg_igemm_tile *t)
{
    wide_reorder(t, t->panel);
    for (int64_t panel = 0; panel < t->panels; panel++)
        switch (t->rows) {
        case 1: wide_few(1, t, panel); break;
        case 2: wide_few(2, t, panel); break;
        case 3: wide_few(3, t, panel); break;
        default: wide_few(WIDE_ROWS, t, panel); break;
        }
}

void hg_igemm_wide_avx2(const hg_igemm_tile *t)
{
    if (t->rows <= WIDE_ROWS) {
        hg_igemm_few_avx2(t);
        return;
    }
    const bool is_met = t->is_met && t->rows >= 2 * WIDE_ROWS;
    const int64_t share = hg_ceil_div(t->quads, hg_ceil_div(t->rows, WIDE_ROWS)); /* of a block */
    const int8_t *b = t->b;
    __m256i meet[2];
    for (int64_t panel = 0; panel < t->panels; panel++) {
        wide_widen(b, t->quads, t->panel, meet);
        b += hg_igemm_panel_bytes(t->quads);
        int64_t row = 0, asked = 0;
        for (; row + WIDE_ROWS <= t->rows; row += WIDE_ROWS, asked += share) {
            wide_ask(b, asked, share);
            if (is_met)
                wide_block(WIDE_ROWS, true, t, row, panel, meet);
            else
                wide_block(WIDE_ROWS, false, t, row, panel, meet);
        }
        wide_ask(b, asked, row < t->rows ? share : 0);
        for (; row + 2 <= t->rows; row += 2)
            wide_block(2, false, t, row, panel, meet);
        if (row < t->rows) wide_block(1, false, t, row, panel, meet);
    }
}
