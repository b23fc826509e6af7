/* igemm_wide.c - products of 16-bit numbers and 8-bit codes with AVX2: vpmaddwd adds two products
 * in 32 bits.
 *
 * A panel of weights is widened once for all rows of a tile. As many additions as products share
 * four pipes, of which two multiply, so their order counts: two products, then two additions give
 * 190 GOP/s on Zen 4, what gcc makes of it 110 to 170 (bench/op/codes). */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "kernel/pack.h"

enum { WIDE_ROWS = 4, WIDE_PAIR = 2 * HG_PANEL };

HG_INLINE __m256i wide_load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

HG_INLINE void wide_store(void *to, __m256i v)
{
    _mm256_storeu_si256((__m256i *)to, v);
}

void hg_igemm_widen_panel_avx2(const int8_t *b, int64_t quads, int16_t *to)
{
    const __m256i low = _mm256_set1_epi32(0xffff), high = _mm256_slli_epi32(low, 16);
    for (int64_t q = 0; q < quads; q++, b += HG_QUAD_BYTES, to += 2 * WIDE_PAIR)
        for (int half = 0; half < 2; half++) {
            /* of each column (k0, k2) and (k1, k3), then (k0, k1) and (k2, k3) */
            const __m256i w = wide_load(b + 32 * half), odd = _mm256_srai_epi16(w, 8);
            const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
            wide_store(to + half * HG_PANEL,
                       _mm256_or_si256(_mm256_and_si256(even, low), _mm256_slli_epi32(odd, 16)));
            wide_store(to + WIDE_PAIR + half * HG_PANEL,
                       _mm256_or_si256(_mm256_srli_epi32(even, 16), _mm256_and_si256(odd, high)));
        }
}

/* Two numbers of each row. */
HG_INLINE void wide_pair(const int rows, __m256i (*sum)[2], const uint8_t *a, int64_t lda,
                         const int16_t *w)
{
    const __m256i w0 = wide_load(w), w1 = wide_load(w + HG_PANEL);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        int32_t pair;
        memcpy(&pair, a + i * lda, sizeof pair);
        const __m256i x = _mm256_set1_epi32(pair);
        __m256i left = _mm256_madd_epi16(x, w0), right = _mm256_madd_epi16(x, w1);
        HG_WIDE_NOW(left, right);
        sum[i][0] = _mm256_add_epi32(sum[i][0], left);
        sum[i][1] = _mm256_add_epi32(sum[i][1], right);
        HG_WIDE_NOW(sum[i][0], sum[i][1]);
    }
}

HG_INLINE void wide_block(const int rows, const hg_igemm_tile *t, int64_t row, int64_t panel)
{
    const uint8_t *a = t->a + row * t->lda;
    const int16_t *w = t->panel;
    const char *next = (const char *)t->b + (panel + 1) * hg_igemm_panel_bytes(t->quads);
    __m256i sum[WIDE_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_si256();
    for (int64_t q = 0; q < t->quads; q++, w += 2 * WIDE_PAIR, a += 2 * HG_QUAD) {
        /* widened next: at memory speed unless it is there by then */
        _mm_prefetch(next + q * HG_QUAD_BYTES, _MM_HINT_T0);
        wide_pair(rows, sum, a, t->lda, w);
        wide_pair(rows, sum, a + HG_QUAD, t->lda, w + WIDE_PAIR);
    }
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        int32_t *c = t->c + (row + i) * t->ldc + panel * HG_PANEL;
        wide_store(c, sum[i][0]);
        wide_store(c + HG_PANEL / 2, sum[i][1]);
    }
}

void hg_igemm_wide_avx2(const hg_igemm_tile *t)
{
    for (int64_t panel = 0; panel < t->panels; panel++) {
        hg_igemm_widen_panel_avx2(t->b + panel * hg_igemm_panel_bytes(t->quads), t->quads,
                                  t->panel);
        int64_t row = 0;
        for (; row + WIDE_ROWS <= t->rows; row += WIDE_ROWS)
            wide_block(WIDE_ROWS, t, row, panel);
        for (; row + 2 <= t->rows; row += 2)
            wide_block(2, t, row, panel);
        if (row < t->rows) wide_block(1, t, row, panel);
    }
}
