/* lane_fast.h - functions of float32 for the lane interpreter where results may be rounded in
 * another way: with fused multiply-adds, and in one formula instead of two where that is near
 * enough.
 *
 * Largest errors in units of the last place (test/kernel/lane.c tries floats of every size):
 * exp 1.1, erf 1.1, sigmoid 2.2, tanh 2.5, asin 2.2, atan 2.8. Sigmoids below 2^-126 are 0. NaN
 * stays NaN, and zeros keep their sign. Twice to five times as fast as the functions of
 * isa/lane_math.h. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_FAST_H
#define HG_BACKEND_CPU_AVX2_LANE_FAST_H

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
    const __m256 up = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NLT_UQ);
    const __m256 by = _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_set1_epi32(64)),
                                       _mm256_castsi256_ps(_mm256_set1_epi32(-1)), up);
    const __m256 sum =
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(t), _mm256_castps_si256(by)));
    const __m256 rest = _mm256_blendv_ps(N(0x1p-64f), N(2), up);
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
    return _mm256_blendv_ps(MULADD(x, p, x), far, _mm256_cmp_ps(a, N(0.875f), _CMP_NLT_UQ));
}

/* From angles of at most pi / 8: the tangent of the difference to pi / 4 or pi / 2. */
HG_INLINE __m256 lane_fast_atan(__m256 x)
{
    const __m256 a = lane_fast_abs(x), one = N(1);
    const __m256 steep = _mm256_cmp_ps(a, N(2.414213562373095f), _CMP_NLE_UQ);
    const __m256 middle = _mm256_cmp_ps(a, N(0.414213562373095f), _CMP_NLE_UQ);
    __m256 over = _mm256_blendv_ps(a, _mm256_sub_ps(a, one), middle);
    __m256 under = _mm256_blendv_ps(one, _mm256_add_ps(a, one), middle);
    over = _mm256_blendv_ps(over, N(-1), steep);
    under = _mm256_blendv_ps(under, a, steep);
    const __m256 quarter = _mm256_and_ps(middle, N(0.7853981633974483f));
    const __m256 angle = _mm256_blendv_ps(quarter, N(1.5707963267948966f), steep);
    const __m256 u = _mm256_div_ps(over, under), z = _mm256_mul_ps(u, u);
    __m256 p = MULADD(z, N(8.05374449538e-2f), N(-1.38776856032e-1f));
    p = MULADD(z, p, N(1.99777106478e-1f));
    p = MULADD(z, p, N(-3.33329491539e-1f));
    return lane_fast_sign(_mm256_add_ps(angle, MULADD(_mm256_mul_ps(z, u), p, u)), x);
}

#if defined(__AVX2__) /* a square root */
/* From 1/2 on pi / 2 - 2 asin(sqrt((1 - x) / 2)). */
HG_INLINE __m256 lane_fast_asin(__m256 x)
{
    const __m256 a = lane_fast_abs(x), large = _mm256_cmp_ps(a, N(0.5f), _CMP_NLE_UQ);
    const __m256 z = _mm256_blendv_ps(_mm256_mul_ps(a, a), MULADD(a, N(-0.5f), N(0.5f)), large);
    const __m256 u = _mm256_blendv_ps(a, _mm256_sqrt_ps(z), large);
    __m256 p = MULADD(z, N(4.2163199048e-2f), N(2.4181311049e-2f));
    p = MULADD(z, p, N(4.5470025998e-2f));
    p = MULADD(z, p, N(7.4953002686e-2f));
    p = MULADD(z, p, N(1.6666752422e-1f));
    const __m256 y = MULADD(_mm256_mul_ps(z, u), p, u);
    const __m256 rest = _mm256_fnmadd_ps(N(2), y, N(1.5707963267948966f));
    return lane_fast_sign(_mm256_blendv_ps(y, rest, large), x);
}
#endif
#undef N
#undef MULADD

#define LANE_FAST(name)                                                                            \
    static void lane_fast_##name##_loop(void *HG_RESTRICT d, const void *HG_RESTRICT a,            \
                                        const void *HG_RESTRICT b, const void *HG_RESTRICT c,      \
                                        int64_t n)                                                 \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int64_t i = 0; i < n; i += 8)                                                         \
            _mm256_storeu_ps((float *)d + i,                                                       \
                             lane_fast_##name(_mm256_loadu_ps((const float *)a + i)));             \
    }
LANE_FAST(exp)
LANE_FAST(sigmoid)
LANE_FAST(tanh)
LANE_FAST(erf)
LANE_FAST(atan)
#if defined(__AVX2__)
LANE_FAST(asin)
#endif
#undef LANE_FAST

/* The loop of an operation, or NULL. */
static hg_lane_fn hg_lane_fast_of(uint32_t op, uint32_t type)
{
    if (type != HG_LANE_F32) return NULL;
    switch (op) {
    case HG_LANE_EXP: return lane_fast_exp_loop;
    case HG_LANE_SIGMOID: return lane_fast_sigmoid_loop;
    case HG_LANE_TANH: return lane_fast_tanh_loop;
    case HG_LANE_ERF: return lane_fast_erf_loop;
    case HG_LANE_ATAN: return lane_fast_atan_loop;
#if defined(__AVX2__)
    case HG_LANE_ASIN: return lane_fast_asin_loop;
#endif
    default: return NULL;
    }
}

#endif
