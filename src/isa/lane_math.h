/* lane_math.h - the mathematical functions of lane code on float, double and integers, in nothing
 * but IEEE operations, integers and selects: every compiler and vector width gives the same bits
 * (see lane_math_f64.h). exp, log, tanh, sigmoid, erf, expm1 and log1p on float compute in float
 * and are made for speed; the others compute in double and round once.
 *
 * Largest errors on float, in units of the last place, found by trying all of them
 * (bench/op/lane_math): exp 1.27, log 0.86, tanh 1.33, sigmoid 1.64, erf 1.39, expm1 1.56,
 * log1p 1.44, sin cos tan 0.52, all others 0.51. */
#ifndef HG_ISA_LANE_MATH_H
#define HG_ISA_LANE_MATH_H

#include "isa/lane_math_f64.h"

/* ---- bits and rounding ---------------------------------------------------------------------- */

HG_INLINE float hg_abs_f32(float x)
{
    return hg_f32_from_bits(hg_bits_f32(x) & 0x7fffffff);
}

/* Magnitude of x, sign of y. */
HG_INLINE float hg_sign_from_f32(float x, float y)
{
    return hg_f32_from_bits((hg_bits_f32(x) & 0x7fffffff) | (hg_bits_f32(y) & 0x80000000));
}

/* Adding 2^23 leaves no room for a fraction; ties go to even. */
HG_INLINE float hg_round_f32(float x)
{
    float a = hg_abs_f32(x), r = (a + 0x1p23f) - 0x1p23f;
    return hg_sign_from_f32(a < 0x1p23f ? r : a, x);
}

HG_INLINE float hg_floor_f32(float x)
{
    float r = hg_round_f32(x);
    return r > x ? r - 1 : r;
}

HG_INLINE float hg_ceil_f32(float x)
{
    float r = hg_round_f32(x);
    return hg_sign_from_f32(r < x ? r + 1 : r, x);
}

HG_INLINE float hg_trunc_f32(float x)
{
    return hg_sign_from_f32(hg_floor_f32(hg_abs_f32(x)), x);
}

HG_INLINE float hg_sqrt_f32(float x)
{
    return sqrtf(x); /* correctly rounded, one instruction under -fno-math-errno */
}

/* ---- computed in float ---------------------------------------------------------------------- */

/* exp(x) = 2^k * (1 + s), |s| < 0.42, for |x| < 2^20; anything for others, NaN for NaN. s is the
 * sum of three parts, the first of them exact. The low 9 bits of biased are k + 127. */
typedef struct hg_exp_parts_f32 {
    float first, second, third;
    uint32_t biased;
} hg_exp_parts_f32;

HG_INLINE hg_exp_parts_f32 hg_exp_divide_f32(float x)
{
    float magic = 0x1.8p23f + 127, t = x * 0x1.715476p+0f + magic, n = t - magic;
    float high = x - n * 0x1.62e4p-1f; /* exact */
    float low = n * 0x1.7f7d1cp-20f, r = high - low, rr = r * r;
    /* r + r^2 p(r), p = (exp(r) - 1 - r) / r^2 on |r| <= 0.3467; short chains rather than few
     * operations */
    return (hg_exp_parts_f32){
        high, rr * (0x1p-1f + r * 0x1.5554dep-3f) - low,
        rr * rr * ((0x1.5554dep-5f + r * 0x1.120adap-7f) + rr * 0x1.6d5a42p-10f), hg_bits_f32(t)};
}

HG_INLINE float hg_exp_split_f32(float x, uint32_t *biased)
{
    hg_exp_parts_f32 p = hg_exp_divide_f32(x);
    *biased = p.biased;
    return p.first + p.second + p.third;
}

/* 2^(k + by) from biased, |k + by| <= 126. */
HG_INLINE float hg_exp_scale_f32(uint32_t biased, int32_t by)
{
    return hg_f32_from_bits((biased + (uint32_t)by) << 23);
}

HG_INLINE float hg_exp_f32(float x)
{
    uint32_t biased;
    float s = hg_exp_split_f32(x, &biased);
    /* Scaling takes two steps, so that the result may be subnormal or infinite. What is beyond the
     * range, computed or not, is replaced at the end: cheaper than clamping x first. */
    float scale = hg_exp_scale_f32(biased, x < 0 ? 64 : -1), rest = x < 0 ? 0x1p-64f : 2;
    float y = (1 + s) * scale * rest;
    y = x <= 88.8f ? y : x + (float)HG_INFINITY;
    return x < -104 ? 0 : y;
}

/* exp for x <= 0 or NaN: the same bits, sooner. */
HG_INLINE float hg_exp_negative_f32(float x)
{
    uint32_t biased;
    float s = hg_exp_split_f32(x, &biased), scale = hg_exp_scale_f32(biased, 64);
    float y = (1 + s) * scale * 0x1p-64f;
    return x < -104 ? 0 : y;
}

/* exp for x in [-80, 80] or NaN. */
HG_INLINE float hg_exp_inner_f32(float x)
{
    uint32_t biased;
    float s = hg_exp_split_f32(x, &biased);
    return (1 + s) * hg_exp_scale_f32(biased, 0);
}

/* e / (1 + e) or 1 / (1 + e) with e = exp(-|x|) as a sum of two floats: the plain quotient is off
 * by more than two units. */
HG_INLINE float hg_sigmoid_f32(float x)
{
    uint32_t biased;
    float a = hg_abs_f32(x), s = hg_exp_split_f32(-a, &biased);
    float scale = hg_exp_scale_f32(biased, 64), one_s = 1 + s;
    float e = one_s * scale * 0x1p-64f, el = (s - (one_s - 1)) * scale * 0x1p-64f;
    float d = 1 + e, dl = (e - (d - 1)) + el;
    /* e or 1 by the sign, -0 too: of a choice by x < 0 compilers make two divisions */
    uint32_t sign = 0 - (hg_bits_f32(x) >> 31);
    float top = hg_f32_from_bits((hg_bits_f32(e) & sign) | (0x3f800000 & ~sign));
    float r = top / d, l = x < 0 ? el : 0;
    r = r + (l - r * dl) * (x < 0 ? 1 - r : r);
    return a > 104 ? (x < 0 ? 0 : 1) : r;
}

HG_INLINE float hg_tanh_f32(float x)
{
    float a = hg_abs_f32(x), z = x * x;
    /* (tanh(x) - x) / x^3 in x^2 <= 0.391 */
    float zz = z * z;
    float p = (-0x1.555552p-2f + zz * (-0x1.b91ccp-5f + zz * (-0x1.8da088p-8f))) +
              z * (0x1.110df4p-3f + zz * 0x1.57b138p-6f);
    float near = a + a * (z * p);
    float far = 1 - 2 / (hg_exp_inner_f32(2 * (a > 10 ? 10 : a)) + 1);
    return hg_sign_from_f32(a < 0.625f ? near : far, x);
}

HG_INLINE float hg_erf_f32(float x)
{
    float a = hg_abs_f32(x), z = x * x, c = a > 4 ? 4 : a;
    /* erf(x) / x - 1 in x^2 <= 0.766 */
    float zz = z * z;
    float p = (0x1.06eba6p-3f + zz * (0x1.ce1b6p-4f + zz * 0x1.4777bp-8f)) +
              z * (-0x1.8126ecp-2f + zz * (-0x1.b6974cp-6f + zz * (-0x1.3ae5a4p-11f)));
    float near = x + x * p;
    /* -log(erfc(x)) on [0.875, 4] */
    float cc = c * c;
    float l = (0x1.2e5cd2p-13f +
               cc * (0x1.460d54p-1f + cc * (-0x1.6eb168p-6f + cc * (-0x1.a33d06p-13f)))) +
              c * (0x1.20bd5ep+0f + cc * (0x1.ab027cp-4f + cc * 0x1.93f838p-9f));
    float far = 1 - hg_exp_inner_f32(-l);
    return a < 0.875f ? near : hg_sign_from_f32(far, x);
}

HG_INLINE float hg_log_f32(float x)
{
    bool is_small = x < 0x1p-126f;
    uint32_t u = hg_bits_f32(is_small ? x * 0x1p23f : x);
    int32_t e = (int32_t)(u - 0x3f3504f3) >> 23; /* 1 + f in [sqrt(1/2), sqrt(2)) */
    float f = hg_f32_from_bits(u - ((uint32_t)e << 23)) - 1, z = f * f;
    float k = (float)(is_small ? e - 23 : e);
    /* (log(1 + f) - f + f^2/2) / f^3 */
    float p =
        (0x1.555554p-2f +
         z * (0x1.999d28p-3f + z * (0x1.23de7p-3f + z * (0x1.dc7574p-4f + z * 0x1.2c9ebp-4f)))) +
        f * (-0x1.ffffe6p-3f +
             z * (-0x1.55628p-3f + z * (-0x1.fbc134p-4f + z * (-0x1.dda35ap-4f))));
    float r = f + ((f * z * p + k * 0x1.7f7d1cp-20f) - 0.5f * z) + k * 0x1.62e4p-1f;
    r = x < (float)HG_INFINITY ? r : x; /* infinity, NaN */
    r = x == 0 ? -(float)HG_INFINITY : r;
    return x < 0 ? (float)HG_NAN : r;
}

HG_INLINE float hg_expm1_f32(float x)
{
    hg_exp_parts_f32 p = hg_exp_divide_f32(x);
    /* 2^k s + 2^k - 1, halved until the end so that 2^k does not overflow */
    float scale = hg_exp_scale_f32(p.biased, -1);
    float y = ((p.first * scale + (scale - 0.5f)) + (p.second + p.third) * scale) * 2;
    y = x <= 88.8f ? y : x + (float)HG_INFINITY;
    return hg_sign_from_f32(x < -18 ? 1 : y, x);
}

/* What rounding 1 + x took away comes back as the slope of the logarithm times it. */
HG_INLINE float hg_log1p_f32(float x)
{
    float u = 1 + x, y = hg_log_f32(u), rest = (x - (u - 1)) / u;
    y = u > 0 && u < (float)HG_INFINITY ? y + rest : y;
    return u == 1 ? x : y;
}

/* ---- computed in double --------------------------------------------------------------------- */

#define HG_MATH_ROUND(name)                                                                        \
    HG_INLINE float hg_##name##_f32(float x)                                                       \
    {                                                                                              \
        return (float)hg_##name##_f64(x);                                                          \
    }
HG_MATH_ROUND(asin)
HG_MATH_ROUND(acos)
HG_MATH_ROUND(atan)
HG_MATH_ROUND(sinh)
HG_MATH_ROUND(cosh)
HG_MATH_ROUND(asinh)
HG_MATH_ROUND(acosh)
HG_MATH_ROUND(atanh)
#undef HG_MATH_ROUND

HG_INLINE float hg_atan2_f32(float y, float x)
{
    return (float)hg_atan2_f64(y, x);
}

static inline float hg_fmod_f32(float x, float y)
{
    return (float)hg_fmod_f64(x, y); /* exact: the remainder is a float */
}

HG_INLINE float hg_pow_f32(float x, float y)
{
    double a = hg_abs_f64(x);
    a = a > 0 ? a : 1;
    a = a < HG_INFINITY ? a : 1;
    double r = hg_pow_rules_f64(x, y, hg_exp_f64(y * hg_log_f64(a)));
    return y == 2 ? x * x : (float)r; /* a square is the product, rounded once */
}

/* sin and cos of x - n pi/2 in [-pi/4, pi/4], with the bits that a float needs. |x| <= HG_TRIG_MAX.
 */
HG_INLINE double hg_trig_near_f32(double x, double *cosine, uint64_t *n)
{
    double t = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, k = t - 0x1.8p52;
    double r = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34, z = r * r;
    *n = hg_bits_f64(t);
    /* (sin(x) - x) / x^3 and (cos(x) - 1 + x^2/2) / x^4 in x^2 */
    double s = 0x1.6db145b2e5e04p-19;
    s = s * z - 0x1.a013802450465p-13;
    s = s * z + 0x1.11110dd1fd9aep-7;
    s = s * z - 0x1.555555545216fp-3;
    double c = 0x1.9bcb9a6c2ca2ap-16;
    c = c * z - 0x1.6c12bafbe47fap-10;
    c = c * z + 0x1.55555437c7ba9p-5;
    *cosine = 1 - (0.5 * z - z * z * c);
    return r + r * z * s;
}

HG_INLINE float hg_sin_near_f32(float x)
{
    uint64_t n;
    double c, s = hg_trig_near_f32(x, &c, &n), r = (n & 1) != 0 ? c : s;
    r = (n & 2) != 0 ? -r : r;
    return x == 0 ? x : (float)r;
}

HG_INLINE float hg_cos_near_f32(float x)
{
    uint64_t n;
    double c, s = hg_trig_near_f32(x, &c, &n), r = (n & 1) != 0 ? s : c;
    return (float)(((n + 1) & 2) != 0 ? -r : r);
}

HG_INLINE float hg_tan_near_f32(float x)
{
    uint64_t n;
    double c, s = hg_trig_near_f32(x, &c, &n), r = (n & 1) != 0 ? -c / s : s / c;
    return x == 0 ? x : (float)r;
}

static inline float hg_sin_f32(float x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? (float)hg_sin_f64(x) : hg_sin_near_f32(x);
}

static inline float hg_cos_f32(float x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? (float)hg_cos_f64(x) : hg_cos_near_f32(x);
}

static inline float hg_tan_f32(float x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? (float)hg_tan_f64(x) : hg_tan_near_f32(x);
}

/* ---- integers
 * -----------------------------------------------------------------------------------------------
 */

/* x to the power y by squaring, modulo 2^64. */
static inline uint64_t hg_pow_u64(uint64_t x, uint64_t y)
{
    uint64_t result = 1;
    for (; y != 0; y >>= 1, x *= x)
        if ((y & 1) != 0) result *= x;
    return result;
}

/* A negative power truncates to 0, but for the bases 1 and -1. */
static inline int64_t hg_pow_i64(int64_t x, int64_t y)
{
    if (y < 0) return x == 1 ? 1 : x == -1 ? ((y & 1) != 0 ? -1 : 1) : 0;
    return (int64_t)hg_pow_u64((uint64_t)x, (uint64_t)y);
}

static inline int32_t hg_pow_i32(int32_t x, int32_t y)
{
    return (int32_t)hg_pow_i64(x, y);
}

#endif
