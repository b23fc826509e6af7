/* reduce.h - sums and extremes of rows and columns of float32 in the sixteen lanes of the kernels
 * "reduce" and "reduce.order" on AVX2. */
#ifndef HG_BACKEND_CPU_AVX2_REDUCE_H
#define HG_BACKEND_CPU_AVX2_REDUCE_H

#include "kernel/reduce.h"

#include "isa/lane_math.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/vec8_int.h"

/* Those of "reduce", to which "reduce.order" adds. */
extern const hg_reduce_loops hg_reduce_loops_avx2;

enum {
    HG_REDUCE_ROW_SUM,
    HG_REDUCE_ROW_SQUARE,
    HG_REDUCE_ROW_ABS,
    HG_REDUCE_ROW_PROD,
    HG_REDUCE_ROW_MAX,
    HG_REDUCE_ROW_MIN
};

HG_INLINE __m256 hg_reduce_row_enter(const int kind, __m256 a, __m256 x)
{
    if (kind == HG_REDUCE_ROW_SUM) return _mm256_add_ps(a, x);
    if (kind == HG_REDUCE_ROW_PROD) return _mm256_mul_ps(a, x);
    if (kind == HG_REDUCE_ROW_SQUARE) return _mm256_add_ps(a, _mm256_mul_ps(x, x));
    if (kind == HG_REDUCE_ROW_ABS)
        return _mm256_add_ps(a,
                             _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX))));
    const __m256 m = kind == HG_REDUCE_ROW_MAX ? _mm256_max_ps(a, x) : _mm256_min_ps(a, x);
    return _mm256_blendv_ps(m, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

/* What changes nothing. */
HG_INLINE float hg_reduce_row_none(const int kind)
{
    return kind == HG_REDUCE_ROW_MAX    ? -(float)HG_INFINITY
           : kind == HG_REDUCE_ROW_MIN  ? (float)HG_INFINITY
           : kind == HG_REDUCE_ROW_PROD ? 1
                                        : 0;
}

HG_INLINE float hg_reduce_row_join(const int kind, float a, float b)
{
    if (kind == HG_REDUCE_ROW_MAX) return a != a || a > b ? a : b;
    if (kind == HG_REDUCE_ROW_MIN) return a != a || a < b ? a : b;
    return kind == HG_REDUCE_ROW_PROD ? a * b : a + b;
}

/* Fewer than eight floats, and what changes nothing. */
HG_INLINE __m256 hg_reduce_row_part(const int kind, const float *x, int64_t n)
{
#define FILL(v)                                                                                    \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, v, v, v, v, v, v, v, v                                             \
    }
    static const float fill[3][16] = {FILL(1), FILL(-(float)HG_INFINITY), FILL((float)HG_INFINITY)};
#undef FILL
    const __m256 rest = hg_part8_load(x, n);
    if (kind < HG_REDUCE_ROW_PROD) return rest;
    return _mm256_xor_ps(rest, _mm256_loadu_ps(fill[kind - HG_REDUCE_ROW_PROD] + 8 - n));
}

/* Sixteen lanes in two vectors; lanes that the last turn does not reach get what changes nothing.
 */
HG_INLINE float hg_reduce_row(const int kind, const float *x, int64_t n)
{
    __m256 a = _mm256_set1_ps(hg_reduce_row_none(kind)), b = a;
    for (; n >= 16; n -= 16, x += 16) {
        a = hg_reduce_row_enter(kind, a, _mm256_loadu_ps(x));
        b = hg_reduce_row_enter(kind, b, _mm256_loadu_ps(x + 8));
    }
    if (n >= 8) {
        a = hg_reduce_row_enter(kind, a, _mm256_loadu_ps(x));
        b = hg_reduce_row_enter(kind, b, hg_reduce_row_part(kind, x + 8, n - 8));
    } else if (n > 0) {
        a = hg_reduce_row_enter(kind, a, hg_reduce_row_part(kind, x, n));
    }
    float lane[8];
    const __m256 sum =
        kind == HG_REDUCE_ROW_SQUARE ? _mm256_add_ps(a, b) : hg_reduce_row_enter(kind, a, b);
    _mm256_storeu_ps(lane, sum);
    for (int i = 0; i < 4; i++)
        lane[i] = hg_reduce_row_join(kind, lane[i], lane[i + 4]);
    return hg_reduce_row_join(kind, hg_reduce_row_join(kind, lane[0], lane[2]),
                              hg_reduce_row_join(kind, lane[1], lane[3]));
}

/* ---- columns --------------------------------------------------------------------------------- */

enum { HG_REDUCE_LANES = 16, HG_REDUCE_COLS = 16, HG_REDUCE_COLS_MOST = 64 };

/* One lane after the other, in registers: whole lines of the cache from each row, several of them
 * where there are so many columns. Loops that are not unrolled: this is there once for each kind.
 */
HG_INLINE void hg_reduce_columns(const int kind, const int vectors, const float *x, int64_t n,
                                 int64_t stride, float *out)
{
    const int join = kind < HG_REDUCE_ROW_PROD ? HG_REDUCE_ROW_SUM : kind;
    __m256 lane[HG_REDUCE_LANES][HG_REDUCE_COLS_MOST / 8];
    for (int64_t l = 0; l < HG_REDUCE_LANES; l++) {
        __m256 a[HG_REDUCE_COLS_MOST / 8];
        HG_GEMM_UNROLL
        for (int v = 0; v < vectors; v++)
            a[v] = _mm256_set1_ps(hg_reduce_row_none(kind));
        for (int64_t i = l; i < n; i += HG_REDUCE_LANES) {
            HG_GEMM_UNROLL
            for (int v = 0; v < vectors; v++)
                a[v] = hg_reduce_row_enter(kind, a[v], _mm256_loadu_ps(x + i * stride + v * 8));
        }
        HG_GEMM_UNROLL
        for (int v = 0; v < vectors; v++)
            lane[l][v] = a[v];
    }
    for (int64_t w = HG_REDUCE_LANES / 2; w > 0; w /= 2)
        for (int64_t l = 0; l < w; l++) {
            HG_GEMM_UNROLL
            for (int v = 0; v < vectors; v++)
                lane[l][v] = hg_reduce_row_enter(join, lane[l][v], lane[l + w][v]);
        }
    HG_GEMM_UNROLL
    for (int v = 0; v < vectors; v++)
        _mm256_storeu_ps(out + v * 8, lane[0][v]);
}

/* At least sixteen columns; the last of them together with their neighbours once more. */
HG_INLINE void hg_reduce_all_columns(const int kind, const float *x, int64_t n, int64_t stride,
                                     int64_t cols, float *out)
{
    int64_t c = 0;
    for (; c + HG_REDUCE_COLS_MOST <= cols; c += HG_REDUCE_COLS_MOST)
        hg_reduce_columns(kind, HG_REDUCE_COLS_MOST / 8, x + c, n, stride, out + c);
    for (; c < cols; c += HG_REDUCE_COLS) {
        const int64_t at = hg_min(c, cols - HG_REDUCE_COLS);
        hg_reduce_columns(kind, HG_REDUCE_COLS / 8, x + at, n, stride, out + at);
    }
}

#endif
