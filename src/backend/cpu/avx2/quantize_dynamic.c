/* quantize_dynamic.c - quantize.extent and quantize.dynamic with AVX2; the same bits. */
#include "kernel/quantize_dynamic.h"

#include "backend/cpu/vec8.h"

/* minps and maxps give the second operand when either is NaN: a sum beside them keeps NaN. */
static void extent_block(const float *x, int64_t count, float *bounds)
{
    __m256 low[2], high[2], nan = _mm256_setzero_ps();
    int64_t i = 0;
    for (int k = 0; k < 2; k++)
        low[k] = high[k] = _mm256_setzero_ps();
    for (; i + 16 <= count; i += 16)
        for (int k = 0; k < 2; k++) {
            const __m256 v = _mm256_loadu_ps(x + i + 8 * k);
            low[k] = _mm256_min_ps(v, low[k]);
            high[k] = _mm256_max_ps(v, high[k]);
            nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        }
    float lows[8], highs[8];
    _mm256_storeu_ps(lows, _mm256_min_ps(low[0], low[1]));
    _mm256_storeu_ps(highs, _mm256_max_ps(high[0], high[1]));
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

/* Eight codes as 32-bit numbers; maxps takes NaN to 0. */
HG_INLINE __m256i dynamic_codes(const float *x, const hg_dynamic_scale *s)
{
    const __m256 q = _mm256_div_ps(_mm256_loadu_ps(x), _mm256_set1_ps(s->divisor));
    __m256 y = _mm256_round_ps(q, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    y = _mm256_add_ps(y, _mm256_set1_ps(s->zero));
    y = _mm256_min_ps(_mm256_max_ps(y, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    return _mm256_cvtps_epi32(y);
}

static void dynamic_block(const float *x, int64_t count, const hg_dynamic_scale *s, uint8_t *to)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i p = _mm256_packus_epi32(dynamic_codes(x + i, s), dynamic_codes(x + i + 8, s));
        const __m256i q =
            _mm256_packus_epi32(dynamic_codes(x + i + 16, s), dynamic_codes(x + i + 24, s));
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(p, q), order);
        _mm256_storeu_si256((__m256i *)(void *)(to + i), bytes);
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
