/* vec8_int.h - the integer half of vec8.h on WebAssembly: instructions of AVX2 on pairs of vectors,
 * for the kernels of 8-bit and narrower codes. Only what those sources use is here. */
#ifndef HG_BACKEND_CPU_WASM_VEC8_INT_H
#define HG_BACKEND_CPU_WASM_VEC8_INT_H

#include "backend/cpu/vec8.h"

#define INT8_2(name, op)                                                                           \
    HG_INLINE __m256i name(__m256i x, __m256i y)                                                   \
    {                                                                                              \
        return (__m256i){op(x.a, y.a), op(x.b, y.b)};                                              \
    }
#define INT8_1(name, op)                                                                           \
    HG_INLINE __m256i name(__m256i x)                                                              \
    {                                                                                              \
        return (__m256i){op(x.a), op(x.b)};                                                        \
    }
#define INT8_SHIFT(name, op)                                                                       \
    HG_INLINE __m256i name(__m256i x, int by)                                                      \
    {                                                                                              \
        return (__m256i){op(x.a, (uint32_t)by), op(x.b, (uint32_t)by)};                            \
    }
#define INT8_SPLAT(name, T, op)                                                                    \
    HG_INLINE __m256i name(T x)                                                                    \
    {                                                                                              \
        return (__m256i){op(x), op(x)};                                                            \
    }

/* ---- single vectors -------------------------------------------------------------------------- */

#if defined(__wasm_relaxed_simd__)
/* Both are exact here: indexes are below 16, the left operand of a product is below 128. */
#define int8_look(table, index) __builtin_wasm_relaxed_swizzle_i8x16(table, index)
#define int8_pairs(u, s) __builtin_wasm_relaxed_dot_i8x16_i7x16_s_i16x8(s, u)
#else
#define int8_look(table, index) wasm_i8x16_swizzle(table, index)

/* Sums of two products of unsigned and signed codes, which fit 16 bits. */
HG_INLINE v128_t int8_pairs(v128_t u, v128_t s)
{
    const v128_t even = wasm_i16x8_mul(wasm_v128_and(u, wasm_i16x8_const_splat(255)),
                                       wasm_i16x8_shr(wasm_i16x8_shl(s, 8), 8));
    const v128_t odd = wasm_i16x8_mul(wasm_u16x8_shr(u, 8), wasm_i16x8_shr(s, 8));
    return wasm_i16x8_add(even, odd);
}
#endif

HG_INLINE v128_t int8_unpacklo_8(v128_t x, v128_t y)
{
    return wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

HG_INLINE v128_t int8_unpackhi_8(v128_t x, v128_t y)
{
    return wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

#define int8_unpacklo_16(x, y) wasm_i16x8_shuffle(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define int8_unpackhi_16(x, y) wasm_i16x8_shuffle(x, y, 4, 12, 5, 13, 6, 14, 7, 15)

/* x with the sign of y; 0 where y is. */
HG_INLINE v128_t int8_sign_8(v128_t x, v128_t y)
{
    const v128_t zero = wasm_i8x16_const_splat(0), less = wasm_i8x16_lt(y, zero);
    const v128_t turned = wasm_i8x16_sub(wasm_v128_xor(x, less), less);
    return wasm_v128_andnot(turned, wasm_i8x16_eq(y, zero));
}

HG_INLINE v128_t int8_sign_16(v128_t x, v128_t y)
{
    const v128_t zero = wasm_i16x8_const_splat(0), less = wasm_i16x8_lt(y, zero);
    const v128_t turned = wasm_i16x8_sub(wasm_v128_xor(x, less), less);
    return wasm_v128_andnot(turned, wasm_i16x8_eq(y, zero));
}

/* What does not fit, and NaN, is the least number. */
HG_INLINE v128_t int8_truncate(v128_t x)
{
    const v128_t fits = wasm_f32x4_lt(x, wasm_f32x4_const_splat(0x1p31f));
    return wasm_v128_bitselect(wasm_i32x4_trunc_sat_f32x4(x), wasm_i32x4_const_splat(INT32_MIN),
                               fits);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

INT8_2(_mm256_and_si256, wasm_v128_and)
INT8_2(_mm256_or_ps, wasm_v128_or)
INT8_2(_mm256_add_epi16, wasm_i16x8_add)
INT8_2(_mm256_sub_epi32, wasm_i32x4_sub)
INT8_2(_mm256_max_epi8, wasm_i8x16_max)
INT8_2(_mm256_cmpgt_epi32, wasm_i32x4_gt)
INT8_2(_mm256_madd_epi16, wasm_i32x4_dot_i16x8)
INT8_2(_mm256_maddubs_epi16, int8_pairs)
INT8_2(_mm256_shuffle_epi8, int8_look)
INT8_2(_mm256_sign_epi8, int8_sign_8)
INT8_2(_mm256_sign_epi16, int8_sign_16)
INT8_2(_mm256_unpacklo_epi8, int8_unpacklo_8)
INT8_2(_mm256_unpackhi_epi8, int8_unpackhi_8)
INT8_2(_mm256_unpacklo_epi16, int8_unpacklo_16)
INT8_2(_mm256_unpackhi_epi16, int8_unpackhi_16)
INT8_2(_mm256_packus_epi32, wasm_u16x8_narrow_i32x4)
INT8_2(_mm256_packus_epi16, wasm_u8x16_narrow_i16x8)
INT8_1(_mm256_abs_epi8, wasm_i8x16_abs)
INT8_1(_mm256_cvtepi32_ps, wasm_f32x4_convert_i32x4)
INT8_1(_mm256_cvttps_epi32, int8_truncate)
INT8_SHIFT(_mm256_slli_epi16, wasm_i16x8_shl)
INT8_SHIFT(_mm256_srli_epi16, wasm_u16x8_shr)
INT8_SHIFT(_mm256_srai_epi32, wasm_i32x4_shr)
INT8_SHIFT(_mm256_srli_epi32, wasm_u32x4_shr)
INT8_SPLAT(_mm256_set1_epi8, int8_t, wasm_i8x16_splat)
INT8_SPLAT(_mm256_set1_epi16, int16_t, wasm_i16x8_splat)
INT8_SPLAT(_mm256_set1_epi32, int32_t, wasm_i32x4_splat)
#undef INT8_2
#undef INT8_1
#undef INT8_SHIFT
#undef INT8_SPLAT

#define _mm256_setzero_si256() _mm256_set1_epi32(0)
#define _mm256_setr_epi32(a, b, c, d, e, f, g, h)                                                  \
    ((__m256i){wasm_i32x4_make(a, b, c, d), wasm_i32x4_make(e, f, g, h)})
#define _mm256_setr_epi16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                          \
    ((__m256i){wasm_i16x8_make(a, b, c, d, e, f, g, h), wasm_i16x8_make(i, j, k, l, m, n, o, p)})

HG_INLINE __m256i _mm256_loadu_si256(const __m256i *p)
{
    return (__m256i){wasm_v128_load(p), wasm_v128_load((const char *)p + 16)};
}

HG_INLINE void _mm256_storeu_si256(__m256i *p, __m256i x)
{
    wasm_v128_store(p, x.a);
    wasm_v128_store((char *)p + 16, x.b);
}

#define _mm256_castsi256_si128(x) ((x).a)
#define _mm256_extracti128_si256(x, i) _mm256_extractf128_ps(x, i)
#define _mm256_broadcastsi128_si256(x) ((__m256i){x, x})
#define _mm256_permute2x128_si256(x, y, how) _mm256_permute2f128_ps(x, y, how)
/* The one way in which each is used. */
#define _mm256_permute4x64_epi64(x, how)                                                           \
    ((__m256i){vec4_lows((x).a, (x).b), vec4_highs((x).a, (x).b)})
#define _mm256_permutevar8x32_epi32(x, order)                                                      \
    ((void)(order), (__m256i){vec4_unpacklo((x).a, (x).b), vec4_unpackhi((x).a, (x).b)})
#define _mm256_movemask_ps(x) (int)(wasm_i32x4_bitmask((x).a) | wasm_i32x4_bitmask((x).b) << 4)

HG_INLINE __m256i _mm256_cvtepu8_epi16(v128_t x)
{
    return (__m256i){wasm_u16x8_extend_low_u8x16(x), wasm_u16x8_extend_high_u8x16(x)};
}

HG_INLINE __m256i _mm256_cvtepi16_epi32(v128_t x)
{
    return (__m256i){wasm_i32x4_extend_low_i16x8(x), wasm_i32x4_extend_high_i16x8(x)};
}

HG_INLINE __m256i _mm256_cvtepu8_epi32(v128_t x)
{
    const v128_t wide = wasm_u16x8_extend_low_u8x16(x);
    return (__m256i){wasm_u32x4_extend_low_u16x8(wide), wasm_u32x4_extend_high_u16x8(wide)};
}

HG_INLINE __m256i _mm256_cvtepi8_epi32(v128_t x)
{
    return _mm256_cvtepi16_epi32(wasm_i16x8_extend_low_i8x16(x));
}

/* By another number in each lane, which WebAssembly lacks; only codes of two bits use it. */
HG_INLINE __m256i _mm256_srlv_epi32(__m256i x, __m256i by)
{
    uint32_t value[8], shift[8];
    _mm256_storeu_si256((__m256i *)(void *)value, x);
    _mm256_storeu_si256((__m256i *)(void *)shift, by);
    for (int i = 0; i < 8; i++)
        value[i] >>= shift[i];
    return _mm256_loadu_si256((const __m256i *)(const void *)value);
}

/* Reads only lanes of the mask. */
HG_INLINE __m256 _mm256_maskload_ps(const float *p, __m256i mask)
{
    int32_t wanted[8];
    float value[8];
    _mm256_storeu_si256((__m256i *)(void *)wanted, mask);
    for (int i = 0; i < 8; i++)
        value[i] = wanted[i] != 0 ? p[i] : 0;
    return _mm256_loadu_ps(value);
}

/* ---- halves ---------------------------------------------------------------------------------- */

#define _mm_set1_epi8(x) wasm_i8x16_splat(x)
#define _mm_xor_si128 wasm_v128_xor
#define _mm_and_si128 wasm_v128_and
#define _mm_srli_epi16(x, by) wasm_u16x8_shr(x, by)
#define _mm_srli_si128(x, by) wasm_i64x2_shuffle(x, wasm_i64x2_const_splat(0), 1, 2) /* by 8 */
#define _mm_unpacklo_epi8 int8_unpacklo_8
#define _mm_packs_epi32 wasm_i16x8_narrow_i32x4
#define _mm_packs_epi16 wasm_i8x16_narrow_i16x8
#define _mm_loadl_epi64(p) wasm_v128_load64_zero(p)
#define _mm_storel_epi64(p, x) wasm_v128_store64_lane(p, x, 0)
#define _mm_storeu_si128(p, x) wasm_v128_store(p, x)

#endif
