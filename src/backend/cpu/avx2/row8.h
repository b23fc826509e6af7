/* row8.h - rows of a softmax: the largest value, the exponentials and their sum, on vectors of
 * eight floats or of sixteen (vec16.h). Value i is added in lane i % 16 either way, so the bits do
 * not depend on it. */
#ifndef HG_BACKEND_CPU_AVX2_ROW8_H
#define HG_BACKEND_CPU_AVX2_ROW8_H

#include "backend/cpu/avx2/math8.h"
#include "backend/cpu/avx2/part8.h"
#include "isa/lane_math.h"

enum { ROW_LANES = 16, ROW_VECTORS = ROW_LANES / HG_LANES, ROW_AHEAD = 4 };

#if HG_LANES == 8
HG_INLINE float row_max_of(const __m256 *x)
{
    const __m256 a = _mm256_max_ps(x[0], x[1]);
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

HG_INLINE float row_sum_of(const __m256 *x)
{
    const __m256 a = _mm256_add_ps(x[0], x[1]);
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}
#else
#define row_max_of(x) _mm512_reduce_max_ps((x)[0])
#define row_sum_of(x) hg_vec16_sum((x)[0])
#endif

/* The largest of n >= 16 values, NaN passed over; -inf where there is no other. Which zero it is
 * does not matter: it is only subtracted. The last few come once more with those before them. */
HG_INLINE float row_max(const float *x, int64_t n)
{
    const __m256 none = _mm256_set1_ps(-(float)HG_INFINITY);
    __m256 max[ROW_AHEAD] = {none, none, none, none};
    int64_t i = 0;
    if (n >= 2 * ROW_AHEAD * HG_LANES) {
        for (; i + ROW_AHEAD * HG_LANES <= n; i += ROW_AHEAD * HG_LANES) {
            HG_UNROLL
            for (int v = 0; v < ROW_AHEAD; v++) /* the second where the first is NaN */
                max[v] = _mm256_max_ps(_mm256_loadu_ps(x + i + v * HG_LANES), max[v]);
        }
        max[0] = _mm256_max_ps(max[0], max[2]);
        max[1] = _mm256_max_ps(max[1], max[3]);
        if (ROW_VECTORS == 1) max[0] = _mm256_max_ps(max[0], max[1]);
    }
    for (; i < n; i += ROW_LANES) {
        HG_UNROLL
        for (int v = 0; v < ROW_VECTORS; v++)
            max[v] =
                _mm256_max_ps(_mm256_loadu_ps(x + hg_min(i, n - ROW_LANES) + v * HG_LANES), max[v]);
    }
    return row_max_of(max);
}

/* exp(x - max), kept in y, which may be x, unless that is NULL; returns their sum. Where it
 * is_whole n is a multiple of 16, and y is not NULL. */
HG_INLINE float row_exp(const bool is_whole, const float *x, float *y, int64_t n, float max)
{
    const __m256 top = _mm256_set1_ps(max);
    __m256 sum[ROW_VECTORS];
    HG_UNROLL
    for (int v = 0; v < ROW_VECTORS; v++)
        sum[v] = _mm256_setzero_ps();
    for (int64_t i = 0; i < n; i += ROW_LANES) {
        HG_UNROLL
        for (int v = 0; v < ROW_VECTORS; v++) {
            const int64_t at = i + v * HG_LANES, left = n - at;
            const bool is_part = !is_whole && left < HG_LANES, keeps = is_whole || y != NULL;
            if (v > 0 && is_part && left <= 0) break;
            const __m256 value = is_part ? hg_part8_load(x + at, left) : _mm256_loadu_ps(x + at);
            __m256 e = hg_exp8(_mm256_sub_ps(value, top));
            if (is_part) e = hg_part8_keep(e, left);
            if (keeps && is_part) hg_part8_store(y + at, left, e);
            if (keeps && !is_part) _mm256_storeu_ps(y + at, e);
            sum[v] = _mm256_add_ps(sum[v], e);
        }
    }
    return row_sum_of(sum);
}

/* Softmax of n >= 16 values, or its logarithm; y may be x. */
HG_INLINE void row_softmax(const float *x, float *y, int64_t n, bool is_log)
{
    const float max = row_max(x, n), sum = row_exp(false, x, is_log ? NULL : y, n, max);
    if (sum != sum) { /* which NaN it is depends on the order in which the compiler adds two */
        for (int64_t i = 0; i < n; i++)
            y[i] = (float)HG_NAN;
        return;
    }
    const __m256 top = _mm256_set1_ps(max), by = _mm256_set1_ps(is_log ? hg_log_f32(sum) : 1 / sum);
    for (int64_t i = 0; i < n; i += HG_LANES) {
        const int64_t left = n - i;
        const bool is_part = left < HG_LANES;
        const float *from = (is_log ? x : y) + i;
        const __m256 v = is_part ? hg_part8_load(from, left) : _mm256_loadu_ps(from);
        const __m256 to = is_log ? _mm256_sub_ps(_mm256_sub_ps(v, top), by) : _mm256_mul_ps(v, by);
        if (is_part)
            hg_part8_store(y + i, left, to);
        else
            _mm256_storeu_ps(y + i, to);
    }
}

float hg_row_max_avx512(const float *x, int64_t n);
float hg_row_exp_avx512(float *x, int64_t n, float max);
void hg_row_softmax_avx512(const float *x, float *y, int64_t n, bool is_log);

#endif
