/* conv_nchw.c - rows of conv.nchw with AVX-512: pixels lie evenly, so one pointer serves four of
 * them, and a single panel has tiles of sixteen: tiles of eight would load a broadcast for every
 * multiply-add and wait for their sums.
 *
 * Each output is the chain of fused multiply-adds of the tiles of gemm.h. */
#include "backend/cpu/avx2/conv_nchw.h"

enum { NCHW_VECTOR = 16, NCHW_ROWS = HG_CONV_NCHW_TILE, NCHW_NEAR = 4 };

#if defined(__clang__)
#define NCHW_UNROLL
#else
#define NCHW_UNROLL _Pragma("GCC unroll 24")
#endif

HG_INLINE __m512 nchw_load(const char *b, const bool is_half)
{
    if (is_half) return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)b));
    return _mm512_loadu_ps(b);
}

/* Rows [first, first + rows), of which `count` exist; what lies behind them is read too. */
HG_INLINE void nchw_tile(const int rows, const int panels, const hg_gemm_step *s, ptrdiff_t ahead,
                         int64_t first, int64_t count)
{
    const bool is_half = HG_IS_LINKED(HOLO_F16) && s->is_half;
    const int64_t depth = s->depth, step = s->b_step, panel = s->b_panel;
    const ptrdiff_t ahead_3 = 3 * ahead;
    const char *b = s->b;
    __m512 sum[NCHW_ROWS][HG_GEMM_PANELS];
    NCHW_UNROLL
    for (int i = 0; i < rows * panels; i++)
        sum[i / panels][i % panels] = i >= panels      ? sum[0][i % panels]
                                      : s->sum == NULL ? _mm512_setzero_ps()
                                                       : _mm512_loadu_ps(s->sum + i * NCHW_VECTOR);
    for (int64_t t = 0; t < s->taps; t++) {
        if (s->row[t] == s->zero) {
            b += step * depth;
            continue;
        }
        const float *a[NCHW_ROWS / NCHW_NEAR];
        NCHW_UNROLL
        for (int i = 0; i < rows / NCHW_NEAR; i++)
            a[i] = s->row[t] + (first + i * NCHW_NEAR) * ahead;
        for (int64_t k = 0; k < depth; k++, b += step) {
            __m512 w[HG_GEMM_PANELS];
            NCHW_UNROLL
            for (int j = 0; j < panels; j++)
                w[j] = nchw_load(b + j * panel, is_half);
            NCHW_UNROLL
            for (int i = 0; i < rows; i++) {
                const int of = i % NCHW_NEAR;
                const __m512 x =
                    _mm512_set1_ps(*(a[i / NCHW_NEAR] + (of == 3 ? ahead_3 : of * ahead)));
                if (of == NCHW_NEAR - 1) a[i / NCHW_NEAR]++;
                NCHW_UNROLL
                for (int j = 0; j < panels; j++)
                    sum[i][j] = _mm512_fmadd_ps(x, w[j], sum[i][j]);
            }
        }
    }
    const __m512 low = _mm512_set1_ps(s->low), high = _mm512_set1_ps(s->high);
    const __mmask16 last =
        (__mmask16)((1U << hg_min(NCHW_VECTOR, s->cols - (panels - 1) * NCHW_VECTOR)) - 1);
    float *c = s->c + first * s->ld;
    const int64_t ld = s->ld; /* a store may alias anything: not read again */
    NCHW_UNROLL
    for (int i = 0; i < rows; i++, c += ld) {
        if (i >= count) return;
        NCHW_UNROLL
        for (int j = 0; j < panels; j++)
            _mm512_mask_storeu_ps(c + j * NCHW_VECTOR, j == panels - 1 ? last : 0xffff,
                                  _mm512_min_ps(high, _mm512_max_ps(low, sum[i][j])));
    }
}

#define NCHW_ROW(height, panels)                                                                   \
    static void nchw_##height##x##panels(const hg_gemm_step *s, ptrdiff_t ahead, int64_t rows)     \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i += (height))                                               \
            nchw_tile(height, panels, s, ahead, i, rows - i);                                      \
    }
NCHW_ROW(16, 1)
NCHW_ROW(8, 2)
NCHW_ROW(8, 3)
#undef NCHW_ROW

void hg_conv_nchw_row_avx512(const hg_gemm_step *s, int64_t ahead, int64_t rows)
{
    (s->panels == 3 ? nchw_8x3 : s->panels == 2 ? nchw_8x2 : nchw_16x1)(s, (ptrdiff_t)ahead, rows);
}
