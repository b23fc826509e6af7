/* half.h - narrow number formats to float and back, on bits and without branches.
 *
 *   format        bits (sign exponent mantissa)  bias  codes that are not numbers
 *   f16           1 5 10                         15    exponent 31: infinity, NaN
 *   bf16          1 8 7                          127   exponent 255: infinity, NaN
 *   f8e4m3fn      1 4 3                          7     x7f NaN; no infinity
 *   f8e4m3fnuz    1 4 3                          8     80 NaN; no infinity, no negative zero
 *   f8e5m2        1 5 2                          15    as f16
 *   f8e5m2fnuz    1 5 2                          16    80 NaN; no infinity, no negative zero
 *   f4e2m1        1 2 1                          1     none
 *   f8e8m0        0 8 0                          127   ff NaN; every other code is 2^(code - 127)
 *
 * Narrowing rounds to nearest, ties to even; f8e8m0 rounds up to the next power of two and ignores
 * the sign (ONNX Cast-24, round_mode "up"). A value that rounds beyond the largest number becomes
 * that number when `saturate` is set, otherwise infinity, or NaN in a format that has none; f4e2m1
 * always saturates and turns NaN into 6. f16 keeps the sign and the high bits of a NaN, as the F16C
 * instructions do. None of these functions depends on how the CPU treats subnormal numbers. */
#ifndef HG_BASE_HALF_H
#define HG_BASE_HALF_H

#include "base/base.h"

#include <string.h>

HG_INLINE uint32_t hg_bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

HG_INLINE float hg_f32_from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

HG_INLINE uint64_t hg_bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

HG_INLINE double hg_f64_from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Rounded to odd: exact, or of the two neighbours the one whose last bit is 1. Narrowing the result
 * further then rounds as if from x itself, since no tie and no exact value can have come about. */
HG_INLINE float hg_f64_to_f32_odd(double x)
{
    float near = (float)x;
    double back = (double)near;
    uint32_t u = hg_bits_f32(near);
    bool exact = back == x || x != x; /* infinities too */
    uint32_t away = (hg_bits_f64(back) & INT64_MAX) > (hg_bits_f64(x) & INT64_MAX);
    return hg_f32_from_bits(exact ? u : (u - away) | 1);
}

/* ---- f16, bf16 --------------------------------------------------------------------------------
 */

HG_INLINE float hg_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, code = h & 0x7fff;
    uint32_t small = hg_bits_f32((float)(int32_t)code * 0x1p-24f); /* code / 2^24: subnormal */
    uint32_t normal = (code << 13) + (112u << 23);
    uint32_t quiet = code > 0x7c00 ? 0x7fc00000 : 0x7f800000; /* infinity, NaN */
    uint32_t u = code < 0x400 ? small : code < 0x7c00 ? normal : (quiet | (code << 13));
    return hg_f32_from_bits(sign | u);
}

HG_INLINE uint16_t hg_f32_to_f16(float x)
{
    uint32_t u = hg_bits_f32(x), sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    /* Adding 1/2 leaves the subnormal code, rounded, in the low bits of the sum. */
    uint32_t small = hg_bits_f32(hg_f32_from_bits(u) + 0.5f) - 0x3f000000;
    uint32_t normal = (u + 0xfff + (u >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t special = u > 0x7f800000 ? 0x7e00 | (u >> 13 & 0x3ff) : 0x7c00;
    uint32_t code = u < 0x38800000 ? small : u < 0x477ff000 ? normal : special;
    return (uint16_t)(sign | code);
}

HG_INLINE float hg_bf16_to_f32(uint16_t h)
{
    return hg_f32_from_bits((uint32_t)h << 16);
}

HG_INLINE uint16_t hg_f32_to_bf16(float x)
{
    uint32_t u = hg_bits_f32(x);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    uint32_t nan = u >> 16 | 0x40;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

/* ---- 8 and 4 bits -----------------------------------------------------------------------------
 */

/* Bits of the float that a magnitude code of a format with `m` mantissa bits stands for. */
HG_INLINE uint32_t hg_half_widen(uint32_t code, int m, int bias)
{
    float unit = hg_f32_from_bits((uint32_t)(128 - bias - m) << 23); /* 2^(1 - bias - m) */
    uint32_t small = hg_bits_f32((float)(int32_t)code * unit);
    uint32_t normal = (code << (23 - m)) + ((uint32_t)(127 - bias) << 23);
    return code < (1u << m) ? small : normal;
}

/* Rounded magnitude code of |x| given as bits; grows beyond the format's largest code on overflow.
 */
HG_INLINE uint32_t hg_half_round(uint32_t u, int m, int bias)
{
    uint32_t magic = (uint32_t)(151 - bias - m) << 23; /* a float whose last bit is the unit */
    uint32_t small = hg_bits_f32(hg_f32_from_bits(u) + hg_f32_from_bits(magic)) - magic;
    uint32_t half = (1u << (22 - m)) - 1;
    uint32_t normal = (u + half + (u >> (23 - m) & 1) - ((uint32_t)(127 - bias) << 23)) >> (23 - m);
    return u < (uint32_t)(128 - bias) << 23 ? small : normal;
}

HG_INLINE uint8_t hg_half_narrow(float x, int m, int bias, uint32_t top, uint32_t over,
                                 uint32_t nan, bool saturate)
{
    uint32_t u = hg_bits_f32(x), sign = u >> 24 & 0x80;
    u &= 0x7fffffff;
    uint32_t code = hg_half_round(u, m, bias);
    code = code > top ? over - (over - top) * saturate : code; /* no second loop for saturate */
    code = u > 0x7f800000 ? nan : code;
    return (uint8_t)(sign | code);
}

/* Formats without negative zero: its code means NaN. */
HG_INLINE uint8_t hg_half_narrow_uz(float x, int m, int bias, bool saturate)
{
    uint32_t u = hg_bits_f32(x), sign = u >> 24 & 0x80;
    u &= 0x7fffffff;
    uint32_t code = hg_half_round(u, m, bias);
    uint32_t mask = 0u - saturate, beyond = ((sign | 0x7f) & mask) | (0x80 & ~mask);
    uint32_t within = code == 0 ? 0 : sign | code;
    code = code > 0x7f ? beyond : within;
    return (uint8_t)(u > 0x7f800000 ? 0x80 : code);
}

HG_INLINE float hg_f8e4m3fn_to_f32(uint8_t c)
{
    uint32_t u = hg_half_widen(c & 0x7f, 3, 7);
    u = (c & 0x7f) == 0x7f ? 0x7fc00000 : u;
    return hg_f32_from_bits((uint32_t)(c & 0x80) << 24 | u);
}

HG_INLINE uint8_t hg_f32_to_f8e4m3fn(float x, bool saturate)
{
    return hg_half_narrow(x, 3, 7, 0x7e, 0x7f, 0x7f, saturate);
}

HG_INLINE float hg_f8e4m3fnuz_to_f32(uint8_t c)
{
    uint32_t u = (uint32_t)(c & 0x80) << 24 | hg_half_widen(c & 0x7f, 3, 8);
    return hg_f32_from_bits(c == 0x80 ? 0x7fc00000 : u);
}

HG_INLINE uint8_t hg_f32_to_f8e4m3fnuz(float x, bool saturate)
{
    return hg_half_narrow_uz(x, 3, 8, saturate);
}

HG_INLINE float hg_f8e5m2_to_f32(uint8_t c)
{
    return hg_f16_to_f32((uint16_t)((uint32_t)c << 8));
}

HG_INLINE uint8_t hg_f32_to_f8e5m2(float x, bool saturate)
{
    return hg_half_narrow(x, 2, 15, 0x7b, 0x7c, 0x7e, saturate);
}

HG_INLINE float hg_f8e5m2fnuz_to_f32(uint8_t c)
{
    uint32_t u = (uint32_t)(c & 0x80) << 24 | hg_half_widen(c & 0x7f, 2, 16);
    return hg_f32_from_bits(c == 0x80 ? 0x7fc00000 : u);
}

HG_INLINE uint8_t hg_f32_to_f8e5m2fnuz(float x, bool saturate)
{
    return hg_half_narrow_uz(x, 2, 16, saturate);
}

HG_INLINE float hg_f4e2m1_to_f32(uint8_t c) /* the code in the low four bits */
{
    return hg_f32_from_bits((uint32_t)(c & 8) << 28 | hg_half_widen(c & 7, 1, 1));
}

HG_INLINE uint8_t hg_f32_to_f4e2m1(float x)
{
    uint32_t u = hg_bits_f32(x), sign = u >> 28 & 8;
    u &= 0x7fffffff;
    uint32_t code = hg_half_round(u, 1, 1);
    code = sign | (code > 7 ? 7 : code);
    return (uint8_t)(u > 0x7f800000 ? 7 : code);
}

HG_INLINE float hg_f8e8m0_to_f32(uint8_t c)
{
    uint32_t u = c == 0 ? 0x00400000 : (uint32_t)c << 23; /* 2^-127 is subnormal */
    return hg_f32_from_bits(c == 0xff ? 0x7fc00000 : u);
}

HG_INLINE uint8_t hg_f32_to_f8e8m0(float x, bool saturate)
{
    uint32_t u = hg_bits_f32(x) & 0x7fffffff;
    uint32_t code = (u + 0x7fffff) >> 23; /* the next power of two; infinity and NaN give 0xff */
    bool over = u > 0x7f000000 && u <= 0x7f800000, under = u < 0x00400000;
    code = u <= 0x00400000 ? 0 : code > 0xff ? 0xff : code;
    if (under && !saturate) code = 0xff; /* zero is not among the values */
    return (uint8_t)(over ? 0xff - (uint32_t)saturate : code);
}

/* ---- integers of 4 and 2 bits: the code in the low bits ----------------------------------------
 */

HG_INLINE int32_t hg_i4_to_i32(uint8_t c)
{
    return (int32_t)((c & 15) ^ 8) - 8;
}

HG_INLINE int32_t hg_i2_to_i32(uint8_t c)
{
    return (int32_t)((c & 3) ^ 2) - 2;
}

/* Element i of packed elements of `bits` bits (4 or 2), the first in the low bits. */
HG_INLINE uint8_t hg_packed_get(const uint8_t *data, int64_t i, int bits)
{
    int64_t per_byte = 8 / bits;
    int shift = (int)(i % per_byte) * bits;
    return (uint8_t)(data[i / per_byte] >> shift & ((1 << bits) - 1));
}

HG_INLINE void hg_packed_set(uint8_t *data, int64_t i, int bits, uint8_t code)
{
    int64_t per_byte = 8 / bits;
    int shift = (int)(i % per_byte) * bits, mask = (1 << bits) - 1;
    data[i / per_byte] =
        (uint8_t)((data[i / per_byte] & ~(mask << shift)) | (code & mask) << shift);
}

#endif
