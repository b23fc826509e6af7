/* lane_common.h - the functions of lane_fast.h that are common behind products too: their source
 * serves vectors of eight floats and, behind vec16.h, of sixteen, with the same bits. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_COMMON_H
#define HG_BACKEND_CPU_AVX2_LANE_COMMON_H

#include "backend/cpu/avx2/math8.h"
#include "backend/cpu/vec8_int.h"
#include "isa/lane_ops.h"

HG_INLINE __m256 lane_fast_number(float x)
{
    return _mm256_set1_ps(x);
}
#define N lane_fast_number
#define MULADD _mm256_fmadd_ps

/* Operands of min and max in this order keep a NaN. */
HG_INLINE __m256 lane_fast_clamp(__m256 x, float low, float high)
{
    return _mm256_min_ps(N(high), _mm256_max_ps(N(low), x));
}

HG_INLINE __m256 lane_fast_abs(__m256 x)
{
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
}

/* Magnitude of x, sign of y. */
HG_INLINE __m256 lane_fast_sign(__m256 x, __m256 y)
{
    return _mm256_xor_ps(lane_fast_abs(x), _mm256_and_ps(y, N(-0.0f)));
}

/* Scaling takes two steps, so that the result may be subnormal or infinite. */
HG_INLINE __m256 lane_fast_exp(__m256 x)
{
    __m256 t;
    x = lane_fast_clamp(x, -105, 89);
    const __m256 y = _mm256_add_ps(hg_exp8_parts(x, &t), N(1));
    const __m256 zero = _mm256_setzero_ps();
    const __m256 by =
        hg_vec8_choose(x, _CMP_NLT_UQ, zero, _mm256_castsi256_ps(_mm256_set1_epi32(-1)),
                       _mm256_castsi256_ps(_mm256_set1_epi32(64)));
    const __m256 sum =
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(t), _mm256_castps_si256(by)));
    const __m256 rest = hg_vec8_choose(x, _CMP_NLT_UQ, zero, N(2), N(0x1p-64f));
    return _mm256_mul_ps(_mm256_mul_ps(y, hg_exp8_power(sum)), rest);
}

/* 1 / (1 + e^-x) */
HG_INLINE __m256 lane_fast_sigmoid(__m256 x)
{
    __m256 t;
    x = lane_fast_clamp(_mm256_xor_ps(x, N(-0.0f)), -87, 88.8f);
    const __m256 y = _mm256_add_ps(hg_exp8_parts(x, &t), N(1));
    return _mm256_div_ps(N(1), MULADD(y, hg_exp8_power(t), N(1)));
}

/* m / (m + 2) with m = e^2x - 1, which is near where x is small too. */
HG_INLINE __m256 lane_fast_tanh(__m256 x)
{
    __m256 t;
    const __m256 s = hg_exp8_parts(lane_fast_clamp(_mm256_add_ps(x, x), -20, 20), &t);
    const __m256 power = hg_exp8_power(t);
    const __m256 m = MULADD(s, power, _mm256_sub_ps(power, N(1)));
    return lane_fast_sign(_mm256_div_ps(m, _mm256_add_ps(m, N(2))), x);
}

/* The two polynomials of hg_erf_f32. */
HG_INLINE __m256 lane_fast_erf(__m256 x)
{
    const __m256 a = lane_fast_abs(x), z = _mm256_mul_ps(x, x), c = _mm256_min_ps(N(4), a);
    __m256 p = MULADD(z, N(-0x1.3ae5a4p-11f), N(0x1.4777bp-8f)), t;
    p = MULADD(z, p, N(-0x1.b6974cp-6f));
    p = MULADD(z, p, N(0x1.ce1b6p-4f));
    p = MULADD(z, p, N(-0x1.8126ecp-2f));
    p = MULADD(z, p, N(0x1.06eba6p-3f));
    __m256 l = MULADD(c, N(0x1.a33d06p-13f), N(-0x1.93f838p-9f));
    l = MULADD(c, l, N(0x1.6eb168p-6f));
    l = MULADD(c, l, N(-0x1.ab027cp-4f));
    l = MULADD(c, l, N(-0x1.460d54p-1f));
    l = MULADD(c, l, N(-0x1.20bd5ep+0f));
    l = MULADD(c, l, N(-0x1.2e5cd2p-13f));
    const __m256 y = _mm256_add_ps(hg_exp8_parts(l, &t), N(1));
    const __m256 far = lane_fast_sign(_mm256_fnmadd_ps(y, hg_exp8_power(t), N(1)), x);
    return hg_vec8_choose(a, _CMP_NLT_UQ, N(0.875f), far, MULADD(x, p, x));
}
#undef N
#undef MULADD

#define LANE_FAST(name)                                                                            \
    static void lane_fast_##name##_loop(void *HG_RESTRICT d, const void *HG_RESTRICT a,            \
                                        const void *HG_RESTRICT b, const void *HG_RESTRICT c,      \
                                        int64_t n)                                                 \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int64_t i = 0; i < n; i += HG_LANES)                                                  \
            _mm256_storeu_ps((float *)d + i,                                                       \
                             lane_fast_##name(_mm256_loadu_ps((const float *)a + i)));             \
    }
LANE_FAST(exp)
LANE_FAST(sigmoid)
LANE_FAST(tanh)
LANE_FAST(erf)

/* The loop of an operation that is common behind products, or NULL. */
static hg_lane_fn hg_lane_fast_common_of(uint32_t op, uint32_t type)
{
    if (type != HG_LANE_F32) return NULL;
    switch (op) {
    case HG_LANE_EXP: return lane_fast_exp_loop;
    case HG_LANE_SIGMOID: return lane_fast_sigmoid_loop;
    case HG_LANE_TANH: return lane_fast_tanh_loop;
    case HG_LANE_ERF: return lane_fast_erf_loop;
    default: return NULL;
    }
}

#endif
