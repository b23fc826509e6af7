/* vec8_int.h - the integer half of vec8.h: instructions of AVX2 on pairs of vectors, for the
 * kernels of 8-bit and narrower codes on other processors. Only what those sources use is here. */
#ifndef HG_BACKEND_CPU_VEC8_INT_H
#define HG_BACKEND_CPU_VEC8_INT_H

#include "backend/cpu/vec8.h"

#if defined(__wasm__) || defined(__aarch64__)

#if defined(__wasm__)
#include "backend/cpu/wasm/vec4_int.h"
#else
#include "backend/cpu/neon/vec4_int.h"
#endif

#define VEC8_SHIFT(name, op)                                                                       \
    HG_INLINE __m256i name(__m256i x, int by)                                                      \
    {                                                                                              \
        return (__m256i){op(x.a, by), op(x.b, by)};                                                \
    }
#define VEC8_SPLAT(name, T, op)                                                                    \
    HG_INLINE __m256i name(int32_t x)                                                              \
    {                                                                                              \
        return (__m256i){op((T)x), op((T)x)};                                                      \
    }

VEC8_2(_mm256_and_si256, vec4_and)
VEC8_2(_mm256_or_ps, vec4_or)
VEC8_2(_mm256_or_si256, vec4_or)
VEC8_2(_mm256_add_epi16, vec4_add_i16)
VEC8_2(_mm256_sub_epi32, vec4_sub_i32)
VEC8_2(_mm256_adds_epi16, vec4_adds_i16)
VEC8_2(_mm256_max_epi8, vec4_max_i8)
VEC8_2(_mm256_min_epi8, vec4_min_i8)
VEC8_2(_mm256_max_epu8, vec4_max_u8)
VEC8_2(_mm256_min_epu8, vec4_min_u8)
VEC8_2(_mm256_cmpgt_epi32, vec4_more_i32)
VEC8_2(_mm256_madd_epi16, vec4_pairs_i16)
VEC8_2(_mm256_maddubs_epi16, vec4_pairs_i8)
VEC8_2(vec8_pairs_u8, vec4_pairs_u8)
VEC8_2(_mm256_shuffle_epi8, vec4_look)
VEC8_2(_mm256_sign_epi8, vec4_sign_i8)
VEC8_2(_mm256_sign_epi16, vec4_sign_i16)
VEC8_2(_mm256_unpacklo_epi8, vec4_unpacklo_i8)
VEC8_2(_mm256_unpackhi_epi8, vec4_unpackhi_i8)
VEC8_2(_mm256_unpacklo_epi16, vec4_unpacklo_i16)
VEC8_2(_mm256_unpackhi_epi16, vec4_unpackhi_i16)
VEC8_2(_mm256_packus_epi32, vec4_narrow_u16)
VEC8_2(_mm256_packus_epi16, vec4_narrow_u8)
VEC8_2(_mm256_packs_epi32, vec4_narrow_i16)
VEC8_2(_mm256_packs_epi16, vec4_narrow_i8)
VEC8_2(_mm256_srlv_epi32, vec4_shr_each)
VEC8_1(_mm256_abs_epi8, vec4_abs_i8)
VEC8_1(_mm256_cvtepi32_ps, vec4_from_i32)
VEC8_1(_mm256_cvttps_epi32, vec4_truncate)
VEC8_SHIFT(_mm256_slli_epi16, vec4_shl_i16)
VEC8_SHIFT(_mm256_srli_epi16, vec4_shr_u16)
VEC8_SHIFT(_mm256_srai_epi16, vec4_shr_i16)
VEC8_SHIFT(_mm256_srai_epi32, vec4_shr_i32)
VEC8_SHIFT(_mm256_srli_epi32, vec4_shr_u32)
VEC8_SPLAT(_mm256_set1_epi8, int8_t, vec4_splat_i8)
VEC8_SPLAT(_mm256_set1_epi16, int16_t, vec4_splat_i16)
VEC8_SPLAT(_mm256_set1_epi32, int32_t, vec4_splat_i32)

#define _mm256_setzero_si256() _mm256_set1_epi32(0)
#define _mm256_setr_epi32(a, b, c, d, e, f, g, h)                                                  \
    ((__m256i){vec4_make_i32(a, b, c, d), vec4_make_i32(e, f, g, h)})
#define _mm256_setr_epi16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                          \
    ((__m256i){vec4_make_i16(a, b, c, d, e, f, g, h), vec4_make_i16(i, j, k, l, m, n, o, p)})

HG_INLINE __m256i _mm256_loadu_si256(const __m256i *p)
{
    return (__m256i){vec4_load_any(p), vec4_load_any((const char *)p + 16)};
}

HG_INLINE void _mm256_storeu_si256(__m256i *p, __m256i x)
{
    vec4_store_any(p, x.a);
    vec4_store_any((char *)p + 16, x.b);
}

#define _mm256_castsi256_si128(x) ((x).a)
#define _mm256_extracti128_si256(x, i) _mm256_extractf128_ps(x, i)
#define _mm256_broadcastsi128_si256(x) ((__m256i){x, x})
#define _mm256_set_m128i(high, low) ((__m256i){low, high})
#define _mm256_set_m128(high, low) ((__m256){low, high})
#define _mm256_permute2x128_si256(x, y, how) _mm256_permute2f128_ps(x, y, how)
/* The one way in which each is used. */
#define _mm256_permute4x64_epi64(x, how)                                                           \
    ((__m256i){vec4_lows((x).a, (x).b), vec4_highs((x).a, (x).b)})
#define _mm256_permutevar8x32_epi32(x, order)                                                      \
    ((void)(order), (__m256i){vec4_unpacklo((x).a, (x).b), vec4_unpackhi((x).a, (x).b)})
#define _mm256_movemask_ps(x) (int)(vec4_bitmask((x).a) | vec4_bitmask((x).b) << 4)

HG_INLINE __m256i _mm256_cvtepu8_epi16(__m128i x)
{
    return (__m256i){vec4_low_u8(x), vec4_high_u8(x)};
}

HG_INLINE __m256i _mm256_cvtepi16_epi32(__m128i x)
{
    return (__m256i){vec4_low_i16(x), vec4_high_i16(x)};
}

HG_INLINE __m256i _mm256_cvtepu8_epi32(__m128i x)
{
    const vec4 wide = vec4_low_u8(x);
    return (__m256i){vec4_low_u16(wide), vec4_high_u16(wide)};
}

HG_INLINE __m256i _mm256_cvtepi8_epi32(__m128i x)
{
    return _mm256_cvtepi16_epi32(vec4_low_i8(x));
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

#define _mm_set1_ps(x) vec4_splat(x)
#define _mm_set1_epi8(x) vec4_splat_i8((int8_t)(x))
#define _mm_xor_si128 vec4_xor
#define _mm_and_si128 vec4_and
#define _mm_srli_epi16 vec4_shr_u16
#define _mm_srli_si128(x, by) vec4_highs(x, vec4_splat(0)) /* by 8 */
#define _mm_unpacklo_epi8 vec4_unpacklo_i8
#define _mm_packs_epi32 vec4_narrow_i16
#define _mm_packs_epi16 vec4_narrow_i8
#define _mm_loadl_epi64(p) vec4_load_low(p)
#define _mm_storel_epi64(p, x) vec4_store_2(p, x)

#endif

#endif
