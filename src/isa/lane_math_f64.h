/* lane_math_f64.h - mathematical functions on double, in nothing but IEEE operations, integers and
 * selects: no libm, no fused multiply-add, so every compiler and vector width gives the same bits
 * (-ffp-contract=off). Functions have no branches and vectorise, but for arguments of sin, cos and
 * tan beyond HG_TRIG_MAX and for fmod.
 *
 * Largest errors measured, in units of the last place: exp 0.95, log 0.80, sin 0.82, cos 0.80,
 * tan 2.1, asin 0.82, acos 1.1, atan atan2 1.5, sinh cosh 2.5, tanh 2.2, asinh 1.5, acosh 2.0,
 * atanh 1.6, erf 1.2, sigmoid 2.2, expm1 1.8, log1p 0.80, pow 0.97; integer powers below 2^53 and
 * fmod are exact. Infinities, signed zeros, subnormals and NaN are as in IEEE 754 and C annex F;
 * which NaN comes out is open.
 *
 * Polynomials are least-maximum fits on the stated interval. */
#ifndef HG_ISA_LANE_MATH_F64_H
#define HG_ISA_LANE_MATH_F64_H

#include "base/half.h"

#include <math.h>

#define HG_INFINITY ((double)INFINITY)
#define HG_NAN ((double)NAN)

/* ---- bits and rounding ---------------------------------------------------------------------- */

HG_INLINE double hg_abs_f64(double x)
{
    return hg_f64_from_bits(hg_bits_f64(x) & (UINT64_MAX >> 1));
}

/* Magnitude of x, sign of y. */
HG_INLINE double hg_sign_from_f64(double x, double y)
{
    uint64_t sign = UINT64_C(1) << 63;
    return hg_f64_from_bits((hg_bits_f64(x) & ~sign) | (hg_bits_f64(y) & sign));
}

/* Adding 2^52 leaves no room for a fraction; ties go to even. */
HG_INLINE double hg_round_f64(double x)
{
    double a = hg_abs_f64(x), r = (a + 0x1p52) - 0x1p52;
    return hg_sign_from_f64(a < 0x1p52 ? r : a, x);
}

HG_INLINE double hg_floor_f64(double x)
{
    double r = hg_round_f64(x);
    return r > x ? r - 1 : r;
}

HG_INLINE double hg_ceil_f64(double x)
{
    double r = hg_round_f64(x);
    return hg_sign_from_f64(r < x ? r + 1 : r, x);
}

HG_INLINE double hg_trunc_f64(double x)
{
    return hg_sign_from_f64(hg_floor_f64(hg_abs_f64(x)), x);
}

HG_INLINE double hg_sqrt_f64(double x)
{
    return sqrt(x); /* correctly rounded, one instruction under -fno-math-errno */
}

/* y * 2^k for k in [-2100, 2100], in two steps so that the result may be subnormal or infinite. */
HG_INLINE double hg_scale_f64(double y, int64_t k)
{
    uint64_t u = (uint64_t)k, half = ((u + 4096) >> 1) - 2048; /* unsigned: NaN brings any k */
    double a = hg_f64_from_bits((half + 1023) << 52);
    double b = hg_f64_from_bits((u - half + 1023) << 52);
    return y * a * b;
}

/* An integer of magnitude below 2^51 as a double; vector units lack the conversion. */
HG_INLINE double hg_i64_to_f64(int64_t k)
{
    return hg_f64_from_bits((uint64_t)k + hg_bits_f64(0x1.8p52)) - 0x1.8p52;
}

/* ---- exponentials --------------------------------------------------------------------------- */

/* exp(x + tail) = 2^k * (1 + s), |x| < 2^20, |s| < 0.42. */
HG_INLINE double hg_exp_split_f64(double x, double tail, int64_t *k)
{
    double t = x * 0x1.71547652b82fep+0 + 0x1.8p52, n = t - 0x1.8p52;
    *k = (int64_t)(hg_bits_f64(t) - hg_bits_f64(0x1.8p52));
    double high = x - n * 0x1.62e42feep-1; /* exact */
    double low = n * 0x1.a39ef35793c76p-33 - tail, r = high - low, rr = r * r;
    /* (exp(r) - 1 - r) / r^2 on |r| <= 0.3467 */
    double q = (0x1.0000000000001p-1 +
                rr * (0x1.5555555553ccep-5 +
                      rr * (0x1.6c16c178b0aa1p-10 +
                            rr * (0x1.a019b8a177cabp-16 + rr * 0x1.2891ee245b6fcp-22)))) +
               r * (0x1.5555555555557p-3 +
                    rr * (0x1.111111110fde4p-7 +
                          rr * (0x1.a01a01adbdc68p-13 +
                                rr * (0x1.71ddfc69875d1p-19 + rr * 0x1.af596bdbfc74fp-26))));
    return high + (rr * q - low);
}

HG_INLINE double hg_exp_sum_f64(double x, double tail)
{
    int64_t k;
    double c = x > 710 ? 710 : x;
    c = c < -746 ? -746 : c;
    double s = hg_exp_split_f64(c, c == x ? tail : 0, &k);
    return hg_scale_f64(1 + s, k);
}

HG_INLINE double hg_exp_f64(double x)
{
    return hg_exp_sum_f64(x, 0);
}

HG_INLINE double hg_expm1_f64(double x)
{
    int64_t k;
    double c = x > 710 ? 710 : x;
    c = c < -60 ? -60 : c;
    double s = hg_exp_split_f64(c, 0, &k);
    /* 2^k s + 2^k - 1, halved until the end so that 2^k does not overflow */
    double half = hg_f64_from_bits(((uint64_t)k + 1022) << 52);
    double r = (half * s + (half - 0.5)) * 2;
    return hg_abs_f64(x) < 0x1p-54 ? x : r;
}

HG_INLINE double hg_sigmoid_f64(double x)
{
    double e = hg_exp_f64(-hg_abs_f64(x));
    return (x < 0 ? e : 1) / (1 + e);
}

HG_INLINE double hg_sinh_f64(double x)
{
    double a = hg_abs_f64(x), m = hg_expm1_f64(a), e = hg_exp_f64(0.5 * a);
    double r = a > 709 ? (0.5 * e) * e : 0.5 * (m + m / (m + 1));
    return hg_sign_from_f64(r, x);
}

HG_INLINE double hg_cosh_f64(double x)
{
    double a = hg_abs_f64(x), e = hg_exp_f64(0.5 * a), m = hg_exp_f64(a);
    return a > 709 ? (0.5 * e) * e : 0.5 * (m + 1 / m);
}

HG_INLINE double hg_tanh_f64(double x)
{
    double a = hg_abs_f64(x), m = hg_expm1_f64(2 * (a > 22 ? 22 : a));
    return hg_sign_from_f64(m / (m + 2), x);
}

/* ---- logarithms ----------------------------------------------------------------------------- */

/* x = 2^k * (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for finite x > 0. Returns f. */
HG_INLINE double hg_log_split_f64(double x, double *k)
{
    bool is_small = x < 0x1p-1022;
    uint64_t u = hg_bits_f64(is_small ? x * 0x1p54 : x);
    uint64_t e = (u - UINT64_C(0x3fe6a09e667f3bcd) + (UINT64_C(1) << 62)) >> 52;
    u -= (e - 1024) << 52;
    *k = hg_i64_to_f64((int64_t)e - 1024) - (is_small ? 54 : 0);
    return hg_f64_from_bits(u) - 1;
}

/* k ln 2 + log(1 + f) + c, c small. */
HG_INLINE double hg_log_join_f64(double k, double f, double c)
{
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    /* (log((1 + s) / (1 - s)) / s - 2) / s^2 on s^2 <= 0.02944 */
    double p = 0x1.2b5d20f2813b3p-3;
    p = p * z + 0x1.39fdf934a0c9p-3;
    p = p * z + 0x1.7462b7cf560bep-3;
    p = p * z + 0x1.c71c62dad390cp-3;
    p = p * z + 0x1.2492492df848ep-2;
    p = p * z + 0x1.99999999952d2p-2;
    p = p * z + 0x1.5555555555558p-1;
    double low = s * (half + z * p) + (k * 0x1.a39ef35793c76p-33 + c);
    return k * 0x1.62e42feep-1 - ((half - low) - f);
}

HG_INLINE double hg_log_f64(double x)
{
    double k, f = hg_log_split_f64(x, &k), r = hg_log_join_f64(k, f, 0);
    r = x < HG_INFINITY ? r : x; /* infinity, NaN */
    r = x == 0 ? -HG_INFINITY : r;
    return x < 0 ? HG_NAN : r;
}

HG_INLINE double hg_log1p_f64(double x)
{
    double u = 1 + x, k, f = hg_log_split_f64(u, &k);
    /* What 1 + x lost; nothing where log works on x itself. */
    double lost = (x >= 1 ? 1 - (u - x) : x - (u - 1)) / u;
    bool is_near = k == 0;
    double r = hg_log_join_f64(k, is_near ? x : f, is_near ? 0 : lost);
    r = hg_abs_f64(x) < 0x1p-54 ? x : r;
    r = x < HG_INFINITY ? r : x;
    r = x == -1 ? -HG_INFINITY : r;
    return x < -1 ? HG_NAN : r;
}

HG_INLINE double hg_asinh_f64(double x)
{
    double a = hg_abs_f64(x), z = a * a;
    double near = hg_log1p_f64(a + z / (1 + hg_sqrt_f64(1 + z)));
    double far = hg_log_f64(a) + 0x1.62e42fefa39efp-1;
    return hg_sign_from_f64(a > 0x1p28 ? far : near, x);
}

HG_INLINE double hg_acosh_f64(double x)
{
    double t = x - 1, near = hg_log1p_f64(t + hg_sqrt_f64(2 * t + t * t));
    double far = hg_log_f64(x) + 0x1.62e42fefa39efp-1;
    double r = x > 0x1p28 ? far : near;
    return x < 1 ? HG_NAN : r;
}

HG_INLINE double hg_atanh_f64(double x)
{
    double a = hg_abs_f64(x);
    return hg_sign_from_f64(0.5 * hg_log1p_f64(2 * a / (1 - a)), x);
}

/* ---- sine and cosine ------------------------------------------------------------------------ */

/* Up to here the multiples of pi/2 are exact in pieces of 33 bits; beyond, hg_trig_far_f64. */
#define HG_TRIG_MAX 0x1p19

/* An angle x as n * pi/2 + high + low, |high| <= pi/4; only n mod 4 is kept. */
typedef struct hg_angle {
    double high, low;
    uint64_t n;
} hg_angle;

/* a + b = *sum + the value returned, exactly. */
HG_INLINE double hg_two_sum(double a, double b, double *sum)
{
    double s = a + b, t = s - a;
    *sum = s;
    return (a - (s - t)) + (b - t);
}

/* The same when |a| >= |b| or a is 0. */
HG_INLINE double hg_fast_two_sum(double a, double b, double *sum)
{
    double s = a + b;
    *sum = s;
    return b - (s - a);
}

/* a * b = *product + the value returned, exactly unless it is near the ends of the range. */
HG_INLINE double hg_two_product(double a, double b, double *product)
{
    double p = a * b;
    double ta = a * 0x1.0000002p27, ah = ta - (ta - a), al = a - ah;
    double tb = b * 0x1.0000002p27, bh = tb - (tb - b), bl = b - bh;
    *product = p;
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
}

HG_INLINE hg_angle hg_trig_near_f64(double x)
{
    hg_angle angle;
    double t = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52, h, l, m, low;
    angle.n = hg_bits_f64(t);
    h = x - n * 0x1.921fb544p+0; /* exact, as are the next two products */
    l = hg_two_sum(h, -(n * 0x1.0b4611a6p-34), &m);
    low = hg_two_sum(m, -(n * 0x1.3198a2ep-69), &h);
    low = (l + low) - n * 0x1.b839a252049c1p-104;
    angle.low = hg_fast_two_sum(h, low, &angle.high);
    return angle;
}

/* |x| >= 2^19, finite, by Payne and Hanek: x = m * 2^e and 2/pi as a long fraction. Bits of the
 * fraction that make multiples of 4 are skipped; the next 192 give x * 2/pi mod 4 with an error
 * below 2^-136. */
static inline hg_angle hg_trig_far_f64(double x)
{
    static const uint64_t bits[] = {
        0,
        UINT64_C(0xa2f9836e4e441529),
        UINT64_C(0xfc2757d1f534ddc0),
        UINT64_C(0xdb6295993c439041),
        UINT64_C(0xfe5163abdebbc561),
        UINT64_C(0xb7246e3a424dd2e0),
        UINT64_C(0x06492eea09d1921c),
        UINT64_C(0xfe1deb1cb129a73e),
        UINT64_C(0xe88235f52ebb4484),
        UINT64_C(0xe99c7026b45f7e41),
        UINT64_C(0x3991d639835339f4),
        UINT64_C(0x9c845f8bbdf9283b),
        UINT64_C(0x1ff897ffde05980f),
        UINT64_C(0xef2f118b5a0a6d1f),
        UINT64_C(0x6d367ecf27cb09b7),
        UINT64_C(0x4f463f669e5fea2d),
        UINT64_C(0x7527bac7ebe5f17b),
        UINT64_C(0x3d0739f78a5292ea),
        UINT64_C(0x6bfb5fb11f8d5d08),
        UINT64_C(0x56033046fc7b6bab),
        UINT64_C(0xf0cfbc209af4361d),
    };
    uint64_t u = hg_bits_f64(x), m = (u & (UINT64_MAX >> 12)) | (UINT64_C(1) << 52);
    /* Bit number e - 1 of the fraction (the first is 1) weighs 2 in x * 2/pi; 64 zeros come before
     * it. */
    int64_t e = (int64_t)(u >> 52 & 0x7ff) - 1075, at = e - 2 + 64;
    int64_t word = at / 64, shift = at % 64;
    uint64_t w[3], p[3];
    for (int i = 0; i < 3; i++) {
        uint64_t next = shift == 0 ? 0 : bits[word + i + 1] >> (64 - shift);
        w[i] = bits[word + i] << shift | next;
    }
    /* p = m * w mod 2^192, w[0] the highest; 32 bits at a time. */
    uint64_t carry = 0, limb[6] = {0};
    for (int i = 0; i < 6; i++) {
        uint64_t part = i % 2 == 0 ? w[2 - i / 2] & UINT32_MAX : w[2 - i / 2] >> 32;
        uint64_t low = part * (m & UINT32_MAX);
        uint64_t sum = (low & UINT32_MAX) + (limb[i] & UINT32_MAX) + carry;
        carry = (sum >> 32) + (low >> 32) + (limb[i] >> 32);
        limb[i] = sum & UINT32_MAX;
        if (i < 5) limb[i + 1] = part * (m >> 32);
    }
    for (int i = 0; i < 3; i++)
        p[i] = limb[5 - 2 * i] << 32 | limb[4 - 2 * i];
    /* p / 2^190 is the angle in quarter turns; nearest whole number, and a signed rest. */
    uint64_t n = (p[0] + (UINT64_C(1) << 61)) >> 62;
    p[0] -= n << 62;
    bool is_negative = p[0] >> 63 != 0;
    if (is_negative) { /* one too small by 2^-190: nothing */
        p[0] = ~p[0];
        p[1] = ~p[1];
        p[2] = ~p[2];
    }
    /* Three exact summands of the rest, then times pi/2. */
    double a = (double)(p[0] >> 11) * 0x1p-51, b, c, high, low, product;
    b = (double)((p[0] & 0x7ff) << 42 | p[1] >> 22) * 0x1p-104;
    c = (double)((p[1] & 0x3fffff) << 31 | p[2] >> 33) * 0x1p-157;
    low = hg_fast_two_sum(a, b, &high) + c;
    low = hg_fast_two_sum(high, low, &high);
    double rest = hg_two_product(high, 0x1.921fb54442d18p+0, &product);
    rest += high * 0x1.1a62633145c07p-54 + low * 0x1.921fb54442d18p+0;
    bool flips = is_negative != (u >> 63 != 0);
    hg_angle angle = {.n = u >> 63 != 0 ? 0 - n : n};
    angle.low = hg_fast_two_sum(product, rest, &angle.high);
    angle.high = flips ? -angle.high : angle.high;
    angle.low = flips ? -angle.low : angle.low;
    return angle;
}

static inline hg_angle hg_trig_far_or_nan(double x)
{
    if (hg_abs_f64(x) < HG_INFINITY) return hg_trig_far_f64(x);
    return (hg_angle){HG_NAN, HG_NAN, 0};
}

/* sin(h + l) and cos(h + l), |h| <= pi/4. */
HG_INLINE double hg_sin_poly_f64(double h, double l)
{
    double z = h * h;
    /* (sin(x) - x) / x^3 in x^2 */
    double p = 0x1.5e08ebd2433d9p-33;
    p = p * z - 0x1.ae6009ae9d18bp-26;
    p = p * z + 0x1.71de379c6aee8p-19;
    p = p * z - 0x1.a01a019e921b4p-13;
    p = p * z + 0x1.1111111110c5p-7;
    p = p * z - 0x1.5555555555555p-3;
    return h + (h * z * p + l * (1 - 0.5 * z));
}

HG_INLINE double hg_cos_poly_f64(double h, double l)
{
    double z = h * h, half = 0.5 * z, w = 1 - half;
    /* (cos(x) - 1 + x^2/2) / x^4 in x^2 */
    double p = -0x1.902fdabe4a51dp-37;
    p = p * z + 0x1.1eeaf783e1743p-29;
    p = p * z - 0x1.27e4f9a55b876p-22;
    p = p * z + 0x1.a01a019ef184bp-16;
    p = p * z - 0x1.6c16c16c167c4p-10;
    p = p * z + 0x1.5555555555555p-5;
    return w + (((1 - w) - half) + (z * z * p - h * l));
}

HG_INLINE double hg_sin_of(hg_angle a)
{
    double s = hg_sin_poly_f64(a.high, a.low), c = hg_cos_poly_f64(a.high, a.low);
    double r = (a.n & 1) != 0 ? c : s;
    return (a.n & 2) != 0 ? -r : r;
}

HG_INLINE double hg_cos_of(hg_angle a)
{
    a.n++;
    return hg_sin_of(a);
}

HG_INLINE double hg_tan_of(hg_angle a)
{
    double s = hg_sin_poly_f64(a.high, a.low), c = hg_cos_poly_f64(a.high, a.low);
    bool is_odd = (a.n & 1) != 0;
    double r = (is_odd ? c : s) / (is_odd ? s : c);
    return is_odd ? -r : r;
}

/* For |x| <= HG_TRIG_MAX or NaN; without branches. -0 and tiny values are their own sine. */
HG_INLINE double hg_sin_near_f64(double x)
{
    return hg_abs_f64(x) < 0x1p-27 ? x : hg_sin_of(hg_trig_near_f64(x));
}

HG_INLINE double hg_cos_near_f64(double x)
{
    return hg_cos_of(hg_trig_near_f64(x));
}

HG_INLINE double hg_tan_near_f64(double x)
{
    return hg_abs_f64(x) < 0x1p-27 ? x : hg_tan_of(hg_trig_near_f64(x));
}

static inline double hg_sin_f64(double x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? hg_sin_of(hg_trig_far_or_nan(x)) : hg_sin_near_f64(x);
}

static inline double hg_cos_f64(double x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? hg_cos_of(hg_trig_far_or_nan(x)) : hg_cos_near_f64(x);
}

static inline double hg_tan_f64(double x)
{
    return hg_abs_f64(x) > HG_TRIG_MAX ? hg_tan_of(hg_trig_far_or_nan(x)) : hg_tan_near_f64(x);
}

/* ---- inverse functions ---------------------------------------------------------------------- */

/* (asin(x) - x) / x in z = x^2 <= 1/4. */
HG_INLINE double hg_asin_poly_f64(double z)
{
    double zz = z * z;
    double p =
        (0x1.5555555555556p-3 +
         zz * (0x1.6db6db6e67a6ep-5 +
               zz * (0x1.6e8bb6d4634d6p-6 +
                     zz * (0x1.c9dcd5bdb923ep-7 +
                           zz * (0x1.55b2cf766ed4fp-7 +
                                 zz * (0x1.313e024ff6d3bp-6 + zz * 0x1.ecab2c790fa64p-6)))))) +
        z * (0x1.3333333332c99p-4 +
             zz * (0x1.f1c71bfd4bebp-6 +
                   zz * (0x1.1c4cbf1b94d43p-6 +
                         zz * (0x1.779f3676bbe6fp-7 +
                               zz * (0x1.48130b8ed809dp-8 + zz * (-0x1.12d0ca782a8a1p-6))))));
    return z * p;
}

HG_INLINE double hg_asin_f64(double x)
{
    /* Above 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)). */
    double a = hg_abs_f64(x), z = 0.5 * (1 - a), s = hg_sqrt_f64(z);
    bool is_near = a < 0.5;
    double t = is_near ? a : s, p = hg_asin_poly_f64(is_near ? a * a : z);
    /* s as a sum: high has half the bits, so its square is exact. */
    double high = hg_f64_from_bits(hg_bits_f64(s) & (UINT64_MAX << 32));
    double low = s > 0 ? (z - high * high) / (s + high) : 0;
    double far = 2 * s * p - (0x1.1a62633145c07p-54 - 2 * low);
    far = 0x1.921fb54442d18p-1 - (far - (0x1.921fb54442d18p-1 - 2 * high));
    return hg_sign_from_f64(is_near ? t + t * p : far, x); /* beyond 1 the root is NaN */
}

HG_INLINE double hg_acos_f64(double x)
{
    double a = hg_abs_f64(x), z = 0.5 * (1 - a), s = hg_sqrt_f64(z);
    bool is_near = a < 0.5;
    double p = hg_asin_poly_f64(is_near ? a * a : z);
    double near = 0x1.921fb54442d18p+0 - (x - (0x1.1a62633145c07p-54 - x * p));
    double far = 2 * (s + s * p);
    far = x < 0 ? 0x1.921fb54442d18p+1 - (far - 0x1.1a62633145c07p-53) : far;
    return is_near ? near : far;
}

/* atan(y / x) for y, x >= 0, not both 0 or both infinite, NaN if one is. */
HG_INLINE double hg_atan_quotient_f64(double y, double x)
{
    /* y/x below tan(pi/8): itself; above tan(3pi/8): pi/2 - atan(x/y); else pi/4 +
     * atan((y-x)/(y+x)). */
    bool is_low = y < 0x1.a827999fcef32p-2 * x, is_high = x < 0x1.a827999fcef32p-2 * y;
    double top = is_low ? y : is_high ? -x : y - x;
    double bottom = is_low ? x : is_high ? y : y + x;
    double base = is_low ? 0 : is_high ? 0x1.921fb54442d18p+0 : 0x1.921fb54442d18p-1;
    double tail = is_low ? 0 : is_high ? 0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-55;
    double t = top / bottom, z = t * t;
    /* (atan(x) - x) / x^3 in x^2 <= 0.1716 */
    double zz = z * z;
    double p = (-0x1.5555555555555p-2 +
                zz * (-0x1.249249243fd58p-3 +
                      zz * (-0x1.745d0bd4cb418p-4 +
                            zz * (-0x1.10fb268a1df4ap-4 +
                                  zz * (-0x1.a0cdc8ff39985p-5 + zz * (-0x1.3b71b5a0424bap-6)))))) +
               z * (0x1.9999999999456p-3 +
                    zz * (0x1.c71c718a2fd0dp-4 +
                          zz * (0x1.3b1270d0e5d9ap-4 +
                                zz * (0x1.dff11c570c941p-5 + zz * 0x1.41eea823ba01bp-5))));
    return base + (t + (t * z * p + tail));
}

HG_INLINE double hg_atan_f64(double x)
{
    return hg_sign_from_f64(hg_atan_quotient_f64(hg_abs_f64(x), 1), x);
}

HG_INLINE double hg_atan2_f64(double y, double x)
{
    double a = hg_abs_f64(y), b = hg_abs_f64(x), most = a > b ? a : b, least = a < b ? a : b;
    double scale = most > 0x1p1000 ? 0x1p-100 : 1;
    scale = most < 0x1p-900 ? 0x1p100 : scale;
    /* Two infinities count as equal numbers, 0 / 0 as 0 / 1. */
    a = least == HG_INFINITY ? 1 : a * scale;
    b = least == HG_INFINITY ? 1 : b * scale;
    b = most == 0 ? 1 : b;
    double r = hg_atan_quotient_f64(a, b),
           left = 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53);
    r = hg_sign_from_f64(hg_sign_from_f64(1, x) < 0 ? left : r, y);
    r = x != x ? x : r;
    return y != y ? y : r;
}

/* ---- error function ------------------------------------------------------------------------- */

/* erf(x) / x - 1 in z = x^2 <= 0.766. */
HG_INLINE double hg_erf_poly_f64(double z)
{
    double zz = z * z;
    double p =
        (0x1.06eba8214db69p-3 +
         zz * (0x1.ce2f21a0462adp-4 +
               zz * (0x1.565bcd3aa6de7p-8 +
                     zz * (0x1.f9a41d2b1d36dp-14 +
                           zz * (0x1.bac10cb0a31bbp-20 + zz * 0x1.14be282da31edp-26))))) +
        z * (-0x1.812746b037a2bp-2 +
             zz * (-0x1.b82ce3139bcd6p-6 +
                   zz * (-0x1.c02dbc47c7df6p-11 +
                         zz * (-0x1.f4e493d151208p-17 +
                               zz * (-0x1.6594560d3f094p-23 + zz * (-0x1.6f977176f19dbp-30))))));
    return p;
}

HG_INLINE double hg_erf_f64(double x)
{
    double a = hg_abs_f64(x), c = a > 6 ? 6 : a, z = c * c;
    double near = x + x * hg_erf_poly_f64(z);
    /* exp(x^2) erfc(x) (1 + 2x) in t = (x - 3) / (x + 3), x in [0.875, 6] */
    double t = (c - 3) / (c + 3);
    double tt = t * t;
    double q = (0x1.40c522d7e4987p+0 +
                tt * (-0x1.85a15c58a95b4p-5 +
                      tt * (-0x1.e88b803a7f4dp-4 +
                            tt * (-0x1.8574c3e9bce0ap-6 +
                                  tt * (0x1.ef1bb53b537a3p-10 +
                                        tt * (-0x1.b8fc081f3a9a6p-14 +
                                              tt * (0x1.47a7e198d38dap-18 +
                                                    tt * (-0x1.d8638a9ca311ep-21 +
                                                          tt * 0x1.69f7496923301p-20)))))))) +
               t * (-0x1.15c084bb9e8f3p-3 +
                    tt * (0x1.098366a5b48d6p-3 +
                          tt * (0x1.17ca2877b84adp-4 +
                                tt * (0x1.4b884ff4c3fc2p-9 +
                                      tt * (-0x1.98dbfe79ed91dp-11 +
                                            tt * (0x1.067b548fa49c8p-13 +
                                                  tt * (-0x1.57128a69dc8acp-16 +
                                                        tt * 0x1.1401738f66795p-18)))))));
    double far = 1 - hg_exp_f64(-z) * q / (1 + 2 * c);
    return a < 0.875 ? near : hg_sign_from_f64(far, x);
}

/* ---- powers
 * -----------------------------------------------------------------------------------------------------
 */

/* log(x) for finite x > 0 as *high + the value returned, to about 2^-64 of it. */
HG_INLINE double hg_log_sum_f64(double x, double *high)
{
    double k, f = hg_log_split_f64(x, &k);
    /* s = f / (2 + f) as sh + sl */
    double dh = 2 + f, dl = f - (dh - 2), sh = f / dh, ph, pl = hg_two_product(sh, dh, &ph);
    double sl = (((f - ph) - pl) - sh * dl) / dh;
    /* z = s^2, then w = 2/3 z, then b = s w, each as a sum */
    double zh, zl = hg_two_product(sh, sh, &zh) + 2 * (sh * sl);
    double wh, wl = hg_two_product(zh, 0x1.5555555555555p-1, &wh);
    wl += zh * 0x1.5555555555555p-55 + zl * 0x1.5555555555555p-1;
    double bh, bl = hg_two_product(sh, wh, &bh);
    bl += sh * wl + sl * wh;
    /* (log((1 + s) / (1 - s)) / s - 2 - 2/3 s^2) / s^4 */
    double q = 0x1.08857d101f78ap-3;
    q = q * zh + 0x1.10177cfded666p-3;
    q = q * zh + 0x1.3b18c3a42cf4p-3;
    q = q * zh + 0x1.745d09c2e930bp-3;
    q = q * zh + 0x1.c71c71d843ee5p-3;
    q = q * zh + 0x1.249249248e2cdp-2;
    q = q * zh + 0x1.999999999999fp-2;
    double c = sh * zh * (zh * q), h, low;
    low = hg_two_sum(k * 0x1.62e42fefa38p-1, 2 * sh, &h);
    low += hg_two_sum(h, bh, &h);
    low += (2 * sl + bl) + (c + k * 0x1.ef35793c7673p-45);
    return hg_fast_two_sum(h, low, high);
}

/* The rules of IEEE 754 for x^y around r = |x|^y, which holds for finite |x| > 0 and y. One
 * condition a select: compilers do not vectorise combined ones. */
HG_INLINE double hg_pow_rules_f64(double x, double y, double r)
{
    double a = hg_abs_f64(x), half = 0.5 * y, whole = hg_round_f64(y);
    double limit = (a - 1) * y > 0 ? HG_INFINITY : 0;
    r = a == 0 ? limit : r;
    r = a == HG_INFINITY ? limit : r;
    r = hg_abs_f64(y) == HG_INFINITY ? limit : r;
    r = a == 1 ? 1 : r;
    /* An odd power keeps the sign; half of it, and of no other whole number, has a fraction. */
    double odd = whole == y ? half - hg_round_f64(half) : 0;
    odd = hg_abs_f64(y) < 0x1p53 ? odd : 0; /* infinity */
    r = odd != 0 ? hg_sign_from_f64(r, x) : r;
    double root = whole == y ? 0 : (a < HG_INFINITY ? x : 0);
    r = root < 0 ? HG_NAN : r;
    r = x != x ? x : r;
    r = y != y ? y : r;
    r = y == 0 ? 1 : r;
    return x == 1 ? 1 : r;
}

HG_INLINE double hg_pow_f64(double x, double y)
{
    double a = hg_abs_f64(x), log_high, high;
    a = a > 0 ? a : 1;
    a = a < HG_INFINITY ? a : 1;
    double log_low = hg_log_sum_f64(a, &log_high);
    /* A larger power overflows or underflows all the same, but the product below must not. */
    double b = y > 0x1p70 ? 0x1p70 : y;
    b = b < -0x1p70 ? -0x1p70 : b;
    double low = hg_two_product(b, log_high, &high) + b * log_low;
    double r = hg_pow_rules_f64(x, y, hg_exp_sum_f64(high, low));
    return y == 2 ? x * x : r; /* a square is the product, rounded once */
}

/* a = m * 2^(*e), m with 53 bits, for finite a > 0. */
static inline uint64_t hg_whole_f64(double a, int64_t *e)
{
    bool is_small = a < 0x1p-1022;
    uint64_t u = hg_bits_f64(is_small ? a * 0x1p54 : a), one = UINT64_C(1) << 52;
    *e = (int64_t)(u >> 52) - (is_small ? 1075 + 54 : 1075);
    return (u & (one - 1)) | one;
}

/* Exact remainder with the sign of x: the quotient is taken 11 bits at a time. */
static inline double hg_fmod_f64(double x, double y)
{
    double a = hg_abs_f64(x), b = hg_abs_f64(y);
    int64_t ea, eb;
    if (!(a < HG_INFINITY) || b == 0 || b != b) return HG_NAN;
    if (a < b) return x;
    uint64_t ma = hg_whole_f64(a, &ea), mb = hg_whole_f64(b, &eb);
    for (int64_t left = ea - eb; left > 0; left -= 11)
        ma = (ma % mb) << (left < 11 ? left : 11);
    /* Below 2^53: exact, and the scaling too, since the remainder is a double. */
    return hg_sign_from_f64(hg_scale_f64((double)(ma % mb), eb), x);
}

#endif
