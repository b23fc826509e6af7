/* vec8.h - vectors of eight floats: those of AVX2, and on WebAssembly pairs of its vectors of four
 * under the same names, so that one source serves both. Only what the sources of backend/cpu/avx2
 * that wasm/ includes really use is here.
 *
 * On WebAssembly a multiply-add is fused where the module was compiled for relaxed SIMD (and the
 * processor can), otherwise it is two roundings. Kernels that promise the reference's bits use
 * none.
 */
#ifndef HG_BACKEND_CPU_VEC8_H
#define HG_BACKEND_CPU_VEC8_H

#include "isa/kernel.h"

#if !defined(__wasm__)

#include <immintrin.h>

#define HG_VEC8_REGISTERS 16

#else

#include <wasm_simd128.h>

#define HG_VEC8_REGISTERS 8 /* pairs, in the sixteen registers of x86 */

/* Names in the sources that are compiled for both. */
#define HG_CPU_AVX2 HG_CPU_WASM
#define hg_kernels_conv_nhwc_avx2 hg_kernels_conv_nhwc_wasm
#define hg_gemm_panel_avx2 hg_gemm_panel_wasm
#define hg_gemm_stream_avx2 hg_gemm_stream_wasm
#define hg_gemm_dot_avx2 hg_gemm_dot_wasm
#define hg_gemm_finish_avx2 hg_gemm_finish_wasm
#define hg_gemm_turn_avx2 hg_gemm_turn_wasm
#define hg_conv_dw_band_avx2 hg_conv_dw_band_wasm
#define hg_conv_dw_weights_avx2 hg_conv_dw_weights_wasm
/* The reference interpreter has SIMD128 already: all of a module is compiled with it. */
#define hg_lane_run_avx2 hg_lane_run
#define hg_lane_read_avx2 hg_lane_read
#define hg_lane_write_avx2 hg_lane_write

typedef v128_t __m128, __m128i;
typedef struct __m256 {
    v128_t a, b;
} __m256, __m256i;

#define VEC8_2(name, op)                                                                           \
    HG_INLINE __m256 name(__m256 x, __m256 y)                                                      \
    {                                                                                              \
        return (__m256){op(x.a, y.a), op(x.b, y.b)};                                               \
    }
#define VEC8_1(name, op)                                                                           \
    HG_INLINE __m256 name(__m256 x)                                                                \
    {                                                                                              \
        return (__m256){op(x.a), op(x.b)};                                                         \
    }

/* The second operand where one is NaN or both are zeros, as on x86. */
#define VEC4_MAX(x, y) wasm_f32x4_pmax(y, x)
#define VEC4_MIN(x, y) wasm_f32x4_pmin(y, x)
#define VEC4_ROUND(x) wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x))

VEC8_2(_mm256_add_ps, wasm_f32x4_add)
VEC8_2(_mm256_sub_ps, wasm_f32x4_sub)
VEC8_2(_mm256_mul_ps, wasm_f32x4_mul)
VEC8_2(_mm256_div_ps, wasm_f32x4_div)
VEC8_2(_mm256_max_ps, VEC4_MAX)
VEC8_2(_mm256_min_ps, VEC4_MIN)
VEC8_2(_mm256_and_ps, wasm_v128_and)
VEC8_2(_mm256_xor_ps, wasm_v128_xor)
VEC8_2(_mm256_add_epi32, wasm_i32x4_add)
VEC8_1(_mm256_cvtps_epi32, VEC4_ROUND)
#undef VEC8_1
#undef VEC8_2

#if defined(__wasm_relaxed_simd__)
#define VEC4_FMADD(x, y, z) __builtin_wasm_relaxed_madd_f32x4(x, y, z)
#define VEC4_FNMADD(x, y, z) __builtin_wasm_relaxed_nmadd_f32x4(x, y, z)
#else
#define VEC4_FMADD(x, y, z) wasm_f32x4_add(z, wasm_f32x4_mul(x, y))
#define VEC4_FNMADD(x, y, z) wasm_f32x4_sub(z, wasm_f32x4_mul(x, y))
#endif

HG_INLINE __m256 _mm256_fmadd_ps(__m256 x, __m256 y, __m256 z)
{
    return (__m256){VEC4_FMADD(x.a, y.a, z.a), VEC4_FMADD(x.b, y.b, z.b)};
}

HG_INLINE __m256 _mm256_fnmadd_ps(__m256 x, __m256 y, __m256 z)
{
    return (__m256){VEC4_FNMADD(x.a, y.a, z.a), VEC4_FNMADD(x.b, y.b, z.b)};
}

HG_INLINE __m256 _mm256_fmsub_ps(__m256 x, __m256 y, __m256 z)
{
    return _mm256_fmadd_ps(x, y, (__m256){wasm_f32x4_neg(z.a), wasm_f32x4_neg(z.b)});
}

HG_INLINE __m256 _mm256_set1_ps(float x)
{
    return (__m256){wasm_f32x4_splat(x), wasm_f32x4_splat(x)};
}

HG_INLINE __m256 _mm256_setzero_ps(void)
{
    return _mm256_set1_ps(0);
}

HG_INLINE __m256 _mm256_broadcast_ss(const float *p)
{
    const v128_t x = wasm_v128_load32_splat(p);
    return (__m256){x, x};
}

HG_INLINE __m256 _mm256_loadu_ps(const float *p)
{
    return (__m256){wasm_v128_load(p), wasm_v128_load(p + 4)};
}

HG_INLINE void _mm256_storeu_ps(float *p, __m256 x)
{
    wasm_v128_store(p, x.a);
    wasm_v128_store(p + 4, x.b);
}

#define _mm256_store_ps _mm256_storeu_ps
#define _mm256_castsi256_ps(x) (x)
#define _mm256_castps_si256(x) (x)
#define _mm256_castps256_ps128(x) ((x).a)
#define _mm256_castps128_ps256(x) ((__m256){x, wasm_f32x4_const_splat(0)})
#define _mm256_extractf128_ps(x, i) ((i) == 0 ? (x).a : (x).b)
#define _mm256_insertf128_ps(x, y, i) ((i) == 0 ? (__m256){y, (x).b} : (__m256){(x).a, y})
#define _mm256_cvtss_f32(x) wasm_f32x4_extract_lane((x).a, 0)
#define _mm256_slli_epi32(x, n) ((__m256){wasm_i32x4_shl((x).a, n), wasm_i32x4_shl((x).b, n)})

enum { _MM_FROUND_TO_NEAREST_INT = 0, _MM_FROUND_NO_EXC = 8 };
#define _mm256_round_ps(x, mode) ((__m256){wasm_f32x4_nearest((x).a), wasm_f32x4_nearest((x).b)})

enum { _CMP_UNORD_Q, _CMP_NLT_UQ };

HG_INLINE v128_t vec4_cmp(v128_t x, v128_t y, int how)
{
    if (how == _CMP_NLT_UQ) return wasm_v128_not(wasm_f32x4_lt(x, y));
    return wasm_v128_or(wasm_f32x4_ne(x, x), wasm_f32x4_ne(y, y));
}
#define _mm256_cmp_ps(x, y, how)                                                                   \
    ((__m256){vec4_cmp((x).a, (y).a, how), vec4_cmp((x).b, (y).b, how)})

/* y where the mask is set; masks here are whole lanes. */
HG_INLINE __m256 _mm256_blendv_ps(__m256 x, __m256 y, __m256 mask)
{
    return (__m256){wasm_v128_bitselect(y.a, x.a, mask.a), wasm_v128_bitselect(y.b, x.b, mask.b)};
}

#define VEC4_UNPACKLO(x, y) wasm_i32x4_shuffle(x, y, 0, 4, 1, 5)
#define VEC4_UNPACKHI(x, y) wasm_i32x4_shuffle(x, y, 2, 6, 3, 7)
#define VEC4_LOWS(x, y) wasm_i64x2_shuffle(x, y, 0, 2)
#define VEC4_HIGHS(x, y) wasm_i64x2_shuffle(x, y, 1, 3)
#define VEC4_EVENS(x, y) wasm_i32x4_shuffle(x, y, 0, 2, 4, 6)
#define VEC4_ODDS(x, y) wasm_i32x4_shuffle(x, y, 1, 3, 5, 7)
#define _mm256_unpacklo_ps(x, y)                                                                   \
    ((__m256){VEC4_UNPACKLO((x).a, (y).a), VEC4_UNPACKLO((x).b, (y).b)})
#define _mm256_unpackhi_ps(x, y)                                                                   \
    ((__m256){VEC4_UNPACKHI((x).a, (y).a), VEC4_UNPACKHI((x).b, (y).b)})
/* the two ways in which each is used */
#define _mm256_permute2f128_ps(x, y, how)                                                          \
    ((how) == 0x20 ? (__m256){(x).a, (y).a} : (__m256){(x).b, (y).b})
#define _mm256_shuffle_ps(x, y, how)                                                               \
    ((how) == 0x44 ? (__m256){VEC4_LOWS((x).a, (y).a), VEC4_LOWS((x).b, (y).b)}                    \
                   : (__m256){VEC4_HIGHS((x).a, (y).a), VEC4_HIGHS((x).b, (y).b)})

HG_INLINE v128_t vec4_hadd(v128_t x, v128_t y)
{
    return wasm_f32x4_add(VEC4_EVENS(x, y), VEC4_ODDS(x, y));
}
#define _mm256_hadd_ps(x, y) ((__m256){vec4_hadd((x).a, (y).a), vec4_hadd((x).b, (y).b)})

/* ---- four floats ----------------------------------------------------------------------------- */

#define _mm_loadu_ps(p) wasm_v128_load(p)
#define _mm_storeu_ps(p, x) wasm_v128_store(p, x)
#define _mm_store_ss(p, x) wasm_v128_store32_lane(p, x, 0)
#define _mm_storel_pi(p, x) wasm_v128_store64_lane(p, x, 0)
#define _mm_add_ps wasm_f32x4_add
#define _mm_add_ss wasm_f32x4_add
#define _mm_max_ps VEC4_MAX
#define _mm_max_ss VEC4_MAX
#define _mm_movehl_ps(x, y) wasm_i64x2_shuffle(y, x, 1, 3)
#define _mm_movehdup_ps(x) wasm_i32x4_shuffle(x, x, 1, 1, 3, 3)
#define _mm_cvtss_f32(x) wasm_f32x4_extract_lane(x, 0)
#define _mm_loadu_si128(p) wasm_v128_load(p)
typedef int64_t __m64;

/* A browser fetches by itself. */
enum { _MM_HINT_T0, _MM_HINT_T1 };
#define _mm_prefetch(p, how) ((void)(p))

/* ---- f16 ------------------------------------------------------------------------------------- */

/* Four halves in the low bits of 32: exponent and fraction move into place, a product with 2^112
 * sets the exponent right, subnormals included; infinities and NaN get theirs afterwards. */
HG_INLINE v128_t vec4_from_half(v128_t h)
{
    const v128_t sign = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_const_splat(0x8000)), 16);
    const v128_t size = wasm_v128_and(h, wasm_i32x4_const_splat(0x7fff));
    const v128_t x = wasm_f32x4_mul(wasm_i32x4_shl(size, 13), wasm_f32x4_const_splat(0x1p112f));
    const v128_t special = wasm_i32x4_gt(size, wasm_i32x4_const_splat(0x7bff));
    const v128_t all = wasm_v128_and(special, wasm_i32x4_const_splat(0x7f800000));
    return wasm_v128_or(wasm_v128_or(x, all), sign);
}

HG_INLINE __m256 _mm256_cvtph_ps(v128_t h)
{
    return (__m256){vec4_from_half(wasm_u32x4_extend_low_u16x8(h)),
                    vec4_from_half(wasm_u32x4_extend_high_u16x8(h))};
}

HG_INLINE float _cvtsh_ss(uint16_t h)
{
    return wasm_f32x4_extract_lane(vec4_from_half(wasm_i32x4_splat(h)), 0);
}

#endif

#endif
