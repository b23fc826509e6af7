/* quantize_dynamic.c - quantize.extent and quantize.dynamic with AVX2; the same bits. */
#include "kernel/quantize_dynamic.h"

#include "backend/cpu/vec8.h"

enum { EXTENT_VECTORS = 4 }; /* at a time: each minimum waits for the one before it */

/* minps and maxps give the second operand when either is NaN: comparisons beside them keep NaN. */
static void extent_block(const float *x, int64_t count, float *bounds)
{
    __m256 low[EXTENT_VECTORS], high[EXTENT_VECTORS], nan = _mm256_setzero_ps();
    int64_t i = 0;
    for (int k = 0; k < EXTENT_VECTORS; k++)
        low[k] = high[k] = _mm256_setzero_ps();
    for (; i + 8 * EXTENT_VECTORS <= count; i += 8 * EXTENT_VECTORS) {
        __m256 v[EXTENT_VECTORS];
        HG_UNROLL
        for (int k = 0; k < EXTENT_VECTORS; k++) {
            v[k] = _mm256_loadu_ps(x + i + 8 * k);
            low[k] = _mm256_min_ps(v[k], low[k]);
            high[k] = _mm256_max_ps(v[k], high[k]);
        }
        HG_UNROLL
        for (int k = 0; k < EXTENT_VECTORS; k += 2)
            nan = _mm256_or_ps(nan, _mm256_cmp_ps(v[k], v[k + 1], _CMP_UNORD_Q));
    }
    for (int k = 1; k < EXTENT_VECTORS; k++) {
        low[0] = _mm256_min_ps(low[0], low[k]);
        high[0] = _mm256_max_ps(high[0], high[k]);
    }
    float lows[8], highs[8];
    _mm256_storeu_ps(lows, low[0]);
    _mm256_storeu_ps(highs, high[0]);
    bounds[0] = bounds[1] = 0;
    for (int k = 0; k < 8; k++) {
        bounds[0] = hg_extent_low(bounds[0], lows[k]);
        bounds[1] = hg_extent_high(bounds[1], highs[k]);
    }
    for (; i < count; i++) {
        bounds[0] = hg_extent_low(bounds[0], x[i]);
        bounds[1] = hg_extent_high(bounds[1], x[i]);
    }
    if (_mm256_movemask_ps(nan) != 0) bounds[0] = bounds[1] = NAN;
}

static void quantize_extent_run(const hg_args *a, hg_range r)
{
    for (int64_t u = r.begin; u < r.end; u++)
        extent_block((const float *)a->in[0].data + u * HG_EXTENT_BLOCK, hg_extent_count(a, u),
                     (float *)a->out[0].data + 2 * u);
}

/* round(x * inverse) is round(x / divisor) wherever the product lies at most this far from the
 * whole number: up to 256 it is off by less than 2^-14 together with the rounding of the quotient,
 * and beyond that both codes are limited. */
#define DYNAMIC_NEAR (0.5f - 1.0f / 16384)

/* Adds the zero point to four vectors and stores bytes: packing limits what is below or above. */
HG_INLINE void dynamic_store(const __m256i code[4], __m256i zero, uint8_t *to)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i p = _mm256_packus_epi32(_mm256_add_epi32(code[0], zero),
                                          _mm256_add_epi32(code[1], zero)),
                  q = _mm256_packus_epi32(_mm256_add_epi32(code[2], zero),
                                          _mm256_add_epi32(code[3], zero));
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_permutevar8x32_epi32(_mm256_packus_epi16(p, q), order));
}

/* Divisions are left to the few blocks where a product with the inverse might round another way
 * (DYNAMIC_NEAR), or is no number. */
static void dynamic_block(const float *x, int64_t count, const hg_dynamic_scale *s, uint8_t *to)
{
    const bool is_usual = s->divisor > 1e-30f && s->divisor < 1e30f;
    const __m256 inverse = _mm256_set1_ps(is_usual ? 1 / s->divisor : NAN);
    const __m256 limit = _mm256_set1_ps(DYNAMIC_NEAR);
    const __m256 size = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)); /* all but the sign */
    const __m256i zero = _mm256_set1_epi32((int32_t)s->zero);
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256i code[4];
        __m256 near = _mm256_setzero_ps();
        HG_UNROLL
        for (int k = 0; k < 4; k++) {
            const __m256 q = _mm256_mul_ps(_mm256_loadu_ps(x + i + 8 * k), inverse);
            code[k] = _mm256_cvtps_epi32(q);
            const __m256 rest = _mm256_and_ps(size, _mm256_sub_ps(q, _mm256_cvtepi32_ps(code[k])));
            near = _mm256_or_ps(near, _mm256_cmp_ps(rest, limit, _CMP_NLE_UQ));
        }
        if (HG_UNLIKELY(_mm256_movemask_ps(near) != 0)) /* or not a number: divided */
            for (int64_t j = i; j < i + 32; j++)
                to[j] = hg_dynamic_code(x[j], s);
        else
            dynamic_store(code, zero, to + i);
    }
    for (; i < count; i++)
        to[i] = hg_dynamic_code(x[i], s);
}

static void quantize_dynamic_run(const hg_args *a, hg_range r)
{
    if (r.begin >= r.end) return;
    const hg_dynamic_scale s = hg_quantize_dynamic_scale(a, r);
    for (int64_t u = r.begin; u < r.end; u++)
        dynamic_block((const float *)a->in[0].data + u * HG_EXTENT_BLOCK, hg_extent_count(a, u), &s,
                      (uint8_t *)a->out[0].data + u * HG_EXTENT_BLOCK);
}

const hg_kernel hg_kernels_quantize_dynamic_avx2[] = {
    {.name = "quantize.dynamic",
     .cpu = HG_CPU_AVX2,
     .check = hg_quantize_dynamic_check,
     .units = hg_quantize_dynamic_units,
     .run = quantize_dynamic_run},
    {.name = "quantize.extent",
     .cpu = HG_CPU_AVX2,
     .check = hg_quantize_extent_check,
     .units = hg_quantize_extent_units,
     .run = quantize_extent_run},
    {0},
};
