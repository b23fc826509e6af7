/* lane_fast.h - functions of float32 for the lane interpreter where results may be rounded in
 * another way: with fused multiply-adds, and in one formula instead of two where that is near
 * enough.
 *
 * Largest errors in units of the last place (test/kernel/lane.c tries floats of every size):
 * exp 1.1, erf 1.1, sigmoid 2.2, tanh 2.5, asin 2.2, atan 2.8, cosh 2.0, acosh 2.6, pow 0.6, sin
 * and cos 1.6; rem is exact. Sigmoids below 2^-126 are 0. NaN stays NaN, and zeros keep their sign.
 * Twice to ten times as fast as the functions of isa/lane_math.h. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_FAST_H
#define HG_BACKEND_CPU_AVX2_LANE_FAST_H

#include "backend/cpu/avx2/lane_common.h"
#include "isa/lane_math.h"
#include "isa/lane_ops.h"

#define N lane_fast_number
#define MULADD _mm256_fmadd_ps

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

/* e^a / 2 + e^-a / 2 of a = |x|, from e^a / 4, which does not overflow before the result does. */
HG_INLINE __m256 lane_fast_cosh(__m256 x)
{
    __m256 t;
    const __m256 a = _mm256_min_ps(N(90), lane_fast_abs(x));
    const __m256 y = _mm256_add_ps(hg_exp8_parts(a, &t), N(1));
    const __m256i two = _mm256_set1_epi32(2);
    const __m256 power =
        hg_exp8_power(_mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(t), two)));
    const __m256 quarter = _mm256_mul_ps(y, power);
    return MULADD(N(2), quarter, _mm256_div_ps(N(0.125f), quarter));
}

/* log(x) of hg_log_f32, x a normal number. */
HG_INLINE __m256 lane_fast_log_normal(__m256 x)
{
    const __m256i u = _mm256_castps_si256(x);
    const __m256i e = _mm256_srai_epi32(_mm256_sub_epi32(u, _mm256_set1_epi32(0x3f3504f3)), 23);
    const __m256 f =
        _mm256_sub_ps(_mm256_castsi256_ps(_mm256_sub_epi32(u, _mm256_slli_epi32(e, 23))), N(1));
    const __m256 z = _mm256_mul_ps(f, f), k = _mm256_cvtepi32_ps(e);
    __m256 p = MULADD(z, N(0x1.2c9ebp-4f), N(0x1.dc7574p-4f));
    p = MULADD(z, p, N(0x1.23de7p-3f));
    p = MULADD(z, p, N(0x1.999d28p-3f));
    p = MULADD(z, p, N(0x1.555554p-2f));
    __m256 q = MULADD(z, N(-0x1.dda35ap-4f), N(-0x1.fbc134p-4f));
    q = MULADD(z, q, N(-0x1.55628p-3f));
    q = MULADD(z, q, N(-0x1.ffffe6p-3f));
    p = _mm256_mul_ps(_mm256_mul_ps(f, z), MULADD(f, q, p));
    p = MULADD(k, N(0x1.7f7d1cp-20f), p);
    return MULADD(k, N(0x1.62e4p-1f), _mm256_add_ps(f, _mm256_fnmadd_ps(N(0.5f), z, p)));
}

/* log(1 + v) with v = t + sqrt(t (t + 2)), t = x - 1, and what rounding 1 + v took away; log(2 x)
 * where x is large. */
HG_INLINE __m256 lane_fast_acosh(__m256 x)
{
    const __m256 t = _mm256_sub_ps(x, N(1)), large = _mm256_cmp_ps(x, N(1e9f), _CMP_GT_OQ);
    const __m256 v = _mm256_add_ps(t, _mm256_sqrt_ps(_mm256_mul_ps(t, _mm256_add_ps(t, N(2)))));
    const __m256 w = _mm256_add_ps(v, N(1));
    const __m256 rest = _mm256_div_ps(_mm256_sub_ps(v, _mm256_sub_ps(w, N(1))), w);
    const __m256 y = _mm256_add_ps(lane_fast_log_normal(_mm256_blendv_ps(w, x, large)),
                                   _mm256_blendv_ps(rest, N(0x1.62e43p-1f), large));
    const __m256 is_number = _mm256_cmp_ps(x, N(1), _CMP_GE_OQ);
    const __m256 is_last = _mm256_cmp_ps(x, N((float)HG_INFINITY), _CMP_EQ_OQ);
    return _mm256_blendv_ps(_mm256_blendv_ps(N((float)HG_NAN), y, is_number), x, is_last);
}
#endif
#undef N
#undef MULADD

LANE_FAST(atan)
#if defined(__AVX2__)
LANE_FAST(asin)
LANE_FAST(cosh)
LANE_FAST(acosh)
#endif
#undef LANE_FAST

#if defined(__AVX2__)
/* ---- of two operands --------------------------------------------------------------------------
 */

/* log2(x) of a positive normal number, within 2^-33 of itself: 2 atanh(s) / log(2) with s = f / (2
 * + f), where 1 + f in [sqrt(1/2), sqrt(2)). */
HG_INLINE __m256d lane_fast_log2_f64(__m128 x)
{
    const __m128i u = _mm_castps_si128(x);
    const __m128i e = _mm_srai_epi32(_mm_sub_epi32(u, _mm_set1_epi32(0x3f3504f3)), 23);
    const __m256d m = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_sub_epi32(u, _mm_slli_epi32(e, 23))));
    const __m256d one = _mm256_set1_pd(1);
    const __m256d s = _mm256_div_pd(_mm256_sub_pd(m, one), _mm256_add_pd(m, one));
    const __m256d z = _mm256_mul_pd(s, s);
    __m256d p = _mm256_set1_pd(2 / (13 * 0.69314718055994530942));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / (11 * 0.69314718055994530942)));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / (9 * 0.69314718055994530942)));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / (7 * 0.69314718055994530942)));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / (5 * 0.69314718055994530942)));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / (3 * 0.69314718055994530942)));
    p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(2 / 0.69314718055994530942));
    return _mm256_fmadd_pd(p, s, _mm256_cvtepi32_pd(e));
}

/* 2^x, |x| < 1000, within 2^-27 of itself: e^r with r = (x - k) log(2) by its series. */
HG_INLINE __m256d lane_fast_exp2_f64(__m256d x)
{
    const __m256d magic = _mm256_set1_pd(0x1.8p52 + 1023);
    const __m256d t = _mm256_add_pd(x, magic);
    const __m256d r = _mm256_mul_pd(_mm256_sub_pd(x, _mm256_sub_pd(t, magic)),
                                    _mm256_set1_pd(0.69314718055994530942));
    __m256d p = _mm256_set1_pd(1.0 / 5040);
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 720));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 120));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 24));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1.0 / 6));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(0.5));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1));
    p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(1));
    return _mm256_mul_pd(p, _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(t), 52)));
}

/* Four powers and their exponents of two. */
HG_INLINE __m128 lane_fast_pow_4(__m128 x, __m128 y, __m128 *exponent)
{
    const __m256d e = _mm256_mul_pd(_mm256_cvtps_pd(y), lane_fast_log2_f64(x));
    *exponent = _mm256_cvtpd_ps(e);
    return _mm256_cvtpd_ps(lane_fast_exp2_f64(e));
}

/* Bases that are positive and normal, results that are normal: the mask says which. */
HG_INLINE __m256 lane_fast_pow(const float *x, const float *y, float *d)
{
    const __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(y);
    __m128 el, eh;
    const __m128 low = lane_fast_pow_4(_mm256_castps256_ps128(a), _mm256_castps256_ps128(b), &el);
    const __m128 high =
        lane_fast_pow_4(_mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(b, 1), &eh);
    _mm256_storeu_ps(d, _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1));
    const __m256 e = _mm256_insertf128_ps(_mm256_castps128_ps256(el), eh, 1);
    const __m256 near =
        _mm256_cmp_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), e), _mm256_set1_ps(125), _CMP_LE_OQ);
    return _mm256_and_ps(near,
                         _mm256_and_ps(_mm256_cmp_ps(a, _mm256_set1_ps(0x1p-126f), _CMP_GE_OQ),
                                       _mm256_cmp_ps(a, _mm256_set1_ps(0x1p127f), _CMP_LE_OQ)));
}

/* x - q y with q = x / y towards zero: exact where q has few bits, but one divisor too far where
 * the quotient was rounded up to a whole number. The mask says which are for it. */
HG_INLINE __m256 lane_fast_rem(const float *x, const float *y, float *d)
{
    const __m256 a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(y), sign = _mm256_set1_ps(-0.0f);
    const __m256 q = _mm256_round_ps(_mm256_div_ps(a, b), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m256 r = _mm256_fnmadd_ps(q, b, a);
    const __m256 back = _mm256_xor_ps(_mm256_andnot_ps(sign, b), _mm256_and_ps(sign, a));
    const __m256 zero = _mm256_setzero_ps(), side = _mm256_xor_ps(r, _mm256_and_ps(sign, a));
    const __m256 is_over = _mm256_cmp_ps(side, zero, _CMP_LT_OQ);
    const __m256 y8 = _mm256_add_ps(r, _mm256_and_ps(back, is_over));
    _mm256_storeu_ps(d, _mm256_or_ps(_mm256_andnot_ps(sign, y8), _mm256_and_ps(sign, a)));
    const __m256 few =
        _mm256_cmp_ps(_mm256_andnot_ps(sign, q), _mm256_set1_ps(0x1p22f), _CMP_LT_OQ);
    const __m256 normal =
        _mm256_cmp_ps(_mm256_andnot_ps(sign, b), _mm256_set1_ps(0x1p-100f), _CMP_GE_OQ);
    const __m256 finite =
        _mm256_cmp_ps(_mm256_andnot_ps(sign, b), _mm256_set1_ps(0x1p127f), _CMP_LE_OQ);
    return _mm256_and_ps(few, _mm256_and_ps(normal, finite));
}

/* What is not for it is the reference's: number by number, so that the bits of none depend on what
 * lies beside it. */
HG_INLINE void lane_fast_rest(float *d, const float *other, __m256 good)
{
    _mm256_storeu_ps(d, _mm256_blendv_ps(_mm256_loadu_ps(other), _mm256_loadu_ps(d), good));
}

#define LANE_FAST_2(name, NAME)                                                                    \
    static void lane_fast_##name##_loop(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,          \
                                        const void *HG_RESTRICT b_, const void *HG_RESTRICT c,     \
                                        int64_t n)                                                 \
    {                                                                                              \
        const hg_lane_fn reference = hg_lane_reference_fn(HG_LANE_##NAME, HG_LANE_F32, 0);         \
        float *HG_RESTRICT d = d_;                                                                 \
        const float *HG_RESTRICT a = a_, *HG_RESTRICT b = b_;                                      \
        for (int64_t i = 0; i < n; i += 16) {                                                      \
            const __m256 low = lane_fast_##name(a + i, b + i, d + i);                              \
            const __m256 high = lane_fast_##name(a + i + 8, b + i + 8, d + i + 8);                 \
            if (_mm256_movemask_ps(_mm256_and_ps(low, high)) == 255) continue;                     \
            float other[16];                                                                       \
            reference(other, a + i, b + i, c, 16);                                                 \
            lane_fast_rest(d + i, other, low);                                                     \
            lane_fast_rest(d + i + 8, other + 8, high);                                            \
        }                                                                                          \
    }
LANE_FAST_2(pow, POW)
LANE_FAST_2(rem, REM)
#undef LANE_FAST_2

/* ---- sine and cosine ----------------------------------------------------------------------- */

/* Sine of x plus `turns` right angles: that of the rest r to the next multiple of pi / 2, which
 * three floats give to 72 bits, or its cosine. |x| <= 2^17 */
HG_INLINE __m256 lane_fast_turned(__m256 x, const int turns)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f), sign = _mm256_set1_ps(-0.0f);
    const __m256 t = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.45f306p-1f), magic);
    const __m256 k = _mm256_sub_ps(t, magic);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0x1.921fb4p+0f), x);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0x1.4442dp-24f), r);
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0x1.846988p-48f), r);
    const __m256 z = _mm256_mul_ps(r, r);
    __m256 s =
        _mm256_fmadd_ps(z, _mm256_set1_ps(-1.9515295891e-4f), _mm256_set1_ps(8.3321608736e-3f));
    s = _mm256_fmadd_ps(z, s, _mm256_set1_ps(-1.6666654611e-1f));
    s = _mm256_fmadd_ps(_mm256_mul_ps(z, r), s, r);
    __m256 c =
        _mm256_fmadd_ps(z, _mm256_set1_ps(2.4433157118e-5f), _mm256_set1_ps(-1.3887316255e-3f));
    c = _mm256_fmadd_ps(z, c, _mm256_set1_ps(4.1666645683e-2f));
    c = _mm256_fmadd_ps(z, c, _mm256_set1_ps(-0.5f));
    c = _mm256_fmadd_ps(z, c, _mm256_set1_ps(1));
    const __m256i n = _mm256_add_epi32(_mm256_castps_si256(t), _mm256_set1_epi32(turns));
    const __m256 is_odd = _mm256_castsi256_ps(_mm256_slli_epi32(n, 31));
    const __m256 half = _mm256_castsi256_ps(_mm256_slli_epi32(n, 30));
    return _mm256_xor_ps(_mm256_blendv_ps(s, c, is_odd), _mm256_and_ps(sign, half));
}

/* What is further away is the reference's. What is small enough is its own sine: so is -0. */
HG_ONCE void lane_fast_turn(float *HG_RESTRICT d, const float *HG_RESTRICT a, int64_t n, int turns)
{
    const __m256 least = _mm256_set1_ps(turns == 0 ? 0x1p-20f : -1);
    for (int64_t i = 0; i < n; i += 8) {
        const __m256 x = _mm256_loadu_ps(a + i), sign = _mm256_set1_ps(-0.0f);
        const __m256 size = _mm256_andnot_ps(sign, x);
        const __m256 y = hg_vec8_choose(size, _CMP_LE_OQ, least, x, lane_fast_turned(x, turns));
        const __m256 near = _mm256_cmp_ps(size, _mm256_set1_ps(0x1p17f), _CMP_LE_OQ);
        _mm256_storeu_ps(d + i, y);
        if (_mm256_movemask_ps(near) == 255) continue;
        float other[16];
        hg_lane_reference_fn(turns == 0 ? HG_LANE_SIN : HG_LANE_COS, HG_LANE_F32,
                             0)(other, a + (i & -16), a, a, 16);
        lane_fast_rest(d + i, other + (i & 8), near);
    }
}

#define LANE_FAST_TURN(name, turns)                                                                \
    static void lane_fast_##name##_loop(void *HG_RESTRICT d, const void *HG_RESTRICT a,            \
                                        const void *HG_RESTRICT b, const void *HG_RESTRICT c,      \
                                        int64_t n)                                                 \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        lane_fast_turn(d, a, n, turns);                                                            \
    }
LANE_FAST_TURN(sin, 0)
LANE_FAST_TURN(cos, 1)
#undef LANE_FAST_TURN
#endif

/* The loop of an operation, or NULL. */
static hg_lane_fn hg_lane_fast_of(uint32_t op, uint32_t type)
{
    if (type != HG_LANE_F32) return NULL;
    switch (op) {
    case HG_LANE_ATAN: return lane_fast_atan_loop;
#if defined(__AVX2__)
    case HG_LANE_ASIN: return lane_fast_asin_loop;
    case HG_LANE_COSH: return lane_fast_cosh_loop;
    case HG_LANE_ACOSH: return lane_fast_acosh_loop;
    case HG_LANE_POW: return lane_fast_pow_loop;
    case HG_LANE_REM: return lane_fast_rem_loop;
    case HG_LANE_SIN: return lane_fast_sin_loop;
    case HG_LANE_COS: return lane_fast_cos_loop;
#endif
    default: return hg_lane_fast_common_of(op, type);
    }
}

#endif
