/* reduce.h - sums and extremes of rows and columns of float32 in the sixteen lanes of the kernels
 * "reduce" and "reduce.order" on AVX2. */
#ifndef HG_BACKEND_CPU_AVX2_REDUCE_H
#define HG_BACKEND_CPU_AVX2_REDUCE_H

#include "kernel/reduce.h"

#include "isa/lane_math.h"

#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/vec8_int.h"

/* Those of "reduce", to which "reduce.order" adds. */
extern const hg_reduce_loops hg_reduce_loops_avx2;

enum {
    HG_REDUCE_ROW_SUM,
    HG_REDUCE_ROW_SQUARE,
    HG_REDUCE_ROW_ABS,
    HG_REDUCE_ROW_MAX,
    HG_REDUCE_ROW_MIN
};

HG_INLINE __m256 hg_reduce_row_enter(const int kind, __m256 a, __m256 x)
{
    if (kind == HG_REDUCE_ROW_SUM) return _mm256_add_ps(a, x);
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
    return kind == HG_REDUCE_ROW_MAX   ? -(float)HG_INFINITY
           : kind == HG_REDUCE_ROW_MIN ? (float)HG_INFINITY
                                       : 0;
}

HG_INLINE float hg_reduce_row_join(const int kind, float a, float b)
{
    if (kind == HG_REDUCE_ROW_MAX) return a != a || a > b ? a : b;
    if (kind == HG_REDUCE_ROW_MIN) return a != a || a < b ? a : b;
    return a + b;
}

/* Fewer than eight floats, and what changes nothing. */
HG_INLINE __m256 hg_reduce_row_part(const int kind, const float *x, int64_t n)
{
#define FILL(v)                                                                                    \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, v, v, v, v, v, v, v, v                                             \
    }
    static const float fill[2][16] = {FILL((float)HG_INFINITY), FILL(-(float)HG_INFINITY)};
#undef FILL
    const __m256 rest = hg_part8_load(x, n);
    if (kind != HG_REDUCE_ROW_MAX && kind != HG_REDUCE_ROW_MIN) return rest;
    return _mm256_xor_ps(rest, _mm256_loadu_ps(fill[kind == HG_REDUCE_ROW_MAX] + 8 - n));
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

enum { HG_REDUCE_COLS = 16, HG_REDUCE_COLS_TOGETHER = 4 };

/* Sixteen columns, but for squares: lanes are filled four at a time, which then stay in registers.
 * Loops that are not unrolled: this is there once for each kind. */
HG_INLINE void hg_reduce_columns(const int kind, const float *x, int64_t n, int64_t stride,
                                 float *out)
{
    float lane[HG_REDUCE_COLS * HG_REDUCE_COLS];
    for (int64_t l = 0; l < HG_REDUCE_COLS; l += HG_REDUCE_COLS_TOGETHER) {
        __m256 a[HG_REDUCE_COLS_TOGETHER][2];
        for (int k = 0; k < HG_REDUCE_COLS_TOGETHER; k++)
            a[k][0] = a[k][1] = _mm256_set1_ps(hg_reduce_row_none(kind));
        int64_t i = l;
        for (; i + HG_REDUCE_COLS_TOGETHER <= n; i += HG_REDUCE_COLS)
            for (int k = 0; k < HG_REDUCE_COLS_TOGETHER; k++)
                for (int v = 0; v < 2; v++)
                    a[k][v] = hg_reduce_row_enter(kind, a[k][v],
                                                  _mm256_loadu_ps(x + (i + k) * stride + v * 8));
        for (int k = 0; k < HG_REDUCE_COLS_TOGETHER; k++)
            for (int v = 0; v < 2; v++)
                _mm256_storeu_ps(lane + (l + k) * HG_REDUCE_COLS + v * 8, a[k][v]);
        for (int64_t at = 2 * i; at < 2 * hg_min(n, i + HG_REDUCE_COLS_TOGETHER); at++) {
            float *to = lane + at / 2 % HG_REDUCE_COLS * HG_REDUCE_COLS + at % 2 * 8;
            _mm256_storeu_ps(
                to, hg_reduce_row_enter(kind, _mm256_loadu_ps(to),
                                        _mm256_loadu_ps(x + at / 2 * stride + at % 2 * 8)));
        }
    }
    for (int64_t w = HG_REDUCE_COLS / 2; w > 0; w /= 2)
        for (int64_t at = 0; at < w * HG_REDUCE_COLS; at += 8)
            _mm256_storeu_ps(lane + at,
                             hg_reduce_row_enter(kind, _mm256_loadu_ps(lane + at),
                                                 _mm256_loadu_ps(lane + w * HG_REDUCE_COLS + at)));
    memcpy(out, lane, HG_REDUCE_COLS * sizeof *lane);
}

/* At least sixteen columns; the last of them together with their neighbours once more. */
HG_INLINE void hg_reduce_all_columns(const int kind, const float *x, int64_t n, int64_t stride,
                                     int64_t cols, float *out)
{
    for (int64_t c = 0; c < cols; c += HG_REDUCE_COLS) {
        const int64_t at = hg_min(c, cols - HG_REDUCE_COLS);
        hg_reduce_columns(kind, x + at, n, stride, out + at);
    }
}

#endif
