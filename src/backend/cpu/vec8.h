/* vec8.h - vectors of eight floats: those of AVX2, and on other processors pairs of their vectors
 * of four (vec4.h in wasm/ and neon/) under the same names, so that one source serves all. Only
 * what the sources of backend/cpu/avx2 that wasm/ and neon/ include really use is here; vec8_int.h
 * has the integers.
 *
 * NEON's multiply-add is fused. On WebAssembly it is where the module was compiled for relaxed SIMD
 * (and the processor can), otherwise it is two roundings. Kernels that promise the reference's bits
 * use none.
 */
#ifndef HG_BACKEND_CPU_VEC8_H
#define HG_BACKEND_CPU_VEC8_H

#include "isa/kernel.h"

/* Whether avx512/ is a part of the program: of the runtime as one file it is not. */
#if defined(__x86_64__) && !defined(HG_ONE_FILE)
#define HG_HAS_AVX512 1
#else
#define HG_HAS_AVX512 0
#endif

/* Whether a call may use it. */
static inline bool hg_has_avx512(const hg_args *a)
{
    return HG_HAS_AVX512 && (a->cpu & HG_CPU_AVX512) != 0;
}

#define HG_LANES 8 /* of a vector; vec16.h makes it 16 */

/* Lanes of `yes` where x compares to y, 0 elsewhere. */
#define hg_vec8_if(x, how, y, yes) _mm256_and_ps(yes, _mm256_cmp_ps(x, y, how))
/* Lanes of `yes` where x compares to y, of `no` elsewhere. */
#define hg_vec8_choose(x, how, y, yes, no) _mm256_blendv_ps(no, yes, _mm256_cmp_ps(x, y, how))

#if !defined(__wasm__) && !defined(__aarch64__)

#include <immintrin.h>

#define HG_VEC8_REGISTERS 16

/* x[0], x[2], ... x[14]; nothing behind them is read. */
#define hg_vec8_evens(x)                                                                           \
    _mm256_castpd_ps(_mm256_permute4x64_pd(                                                        \
        _mm256_castps_pd(_mm256_shuffle_ps(_mm256_loadu_ps(x), _mm256_loadu_ps((x) + 7), 0xd8)),   \
        0xd8))

/* x[0], x[step], ... x[7 * step] */
#define hg_vec8_every(x, step)                                                                     \
    _mm256_setr_ps((x)[0], (x)[step], (x)[2 * (step)], (x)[3 * (step)], (x)[4 * (step)],           \
                   (x)[5 * (step)], (x)[6 * (step)], (x)[7 * (step)])

#else

#if defined(__wasm__)
#include "backend/cpu/wasm/vec4.h"
#else
#include "backend/cpu/neon/vec4.h"
#endif

/* Names in the sources that are compiled for all. */
#define hg_gemm_panel_avx2 VEC4_NAME(hg_gemm_panel)
#define hg_gemm_stream_avx2 VEC4_NAME(hg_gemm_stream)
#define hg_gemm_dot_avx2 VEC4_NAME(hg_gemm_dot)
#define hg_gemm_finish_avx2 VEC4_NAME(hg_gemm_finish)
#define hg_gemm_turn_avx2 VEC4_NAME(hg_gemm_turn)
#define hg_conv_dw_band_avx2 VEC4_NAME(hg_conv_dw_band)
#define hg_conv_dw_weights_avx2 VEC4_NAME(hg_conv_dw_weights)
#define hg_conv_dw_means_avx2 VEC4_NAME(hg_conv_dw_means)
#define hg_igemm_avx2 VEC4_NAME(hg_igemm)
#define hg_igemm_finish_avx2 VEC4_NAME(hg_igemm_finish)
#define hg_igemm_wide_avx2 VEC4_NAME(hg_igemm_wide)
#define hg_igemm_widen_panel_avx2 VEC4_NAME(hg_igemm_widen_panel)
#define hg_table_bytes_avx2 VEC4_NAME(hg_table_bytes)

typedef vec4 __m128, __m128i;
typedef struct __m256 {
    vec4 a, b;
} __m256, __m256i;

/* Functions of pairs by those of vectors; vec8_int.h has more of them. */
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

VEC8_2(_mm256_add_ps, vec4_add)
VEC8_2(_mm256_sub_ps, vec4_sub)
VEC8_2(_mm256_mul_ps, vec4_mul)
VEC8_2(_mm256_div_ps, vec4_div)
VEC8_2(_mm256_max_ps, vec4_max)
VEC8_2(_mm256_min_ps, vec4_min)
VEC8_2(_mm256_and_ps, vec4_and)
VEC8_2(_mm256_xor_ps, vec4_xor)
VEC8_2(_mm256_add_epi32, vec4_add_i32)
VEC8_2(_mm256_unpacklo_ps, vec4_unpacklo)
VEC8_2(_mm256_unpackhi_ps, vec4_unpackhi)
VEC8_1(_mm256_cvtps_epi32, vec4_to_i32)

HG_INLINE __m256 _mm256_fmadd_ps(__m256 x, __m256 y, __m256 z)
{
    return (__m256){vec4_fmadd(x.a, y.a, z.a), vec4_fmadd(x.b, y.b, z.b)};
}

HG_INLINE __m256 _mm256_fnmadd_ps(__m256 x, __m256 y, __m256 z)
{
    return (__m256){vec4_fnmadd(x.a, y.a, z.a), vec4_fnmadd(x.b, y.b, z.b)};
}

HG_INLINE __m256 _mm256_fmsub_ps(__m256 x, __m256 y, __m256 z)
{
    return _mm256_fmadd_ps(x, y, (__m256){vec4_neg(z.a), vec4_neg(z.b)});
}

HG_INLINE __m256 _mm256_set1_ps(float x)
{
    return (__m256){vec4_splat(x), vec4_splat(x)};
}

HG_INLINE __m256 _mm256_setzero_ps(void)
{
    return _mm256_set1_ps(0);
}

HG_INLINE __m256 _mm256_broadcast_ss(const float *p)
{
    const vec4 x = vec4_load_splat(p);
    return (__m256){x, x};
}

HG_INLINE __m256 _mm256_loadu_ps(const float *p)
{
    return (__m256){vec4_load(p), vec4_load(p + 4)};
}

HG_INLINE __m256 hg_vec8_every(const float *x, int64_t step)
{
    float part[8];
    for (int64_t i = 0; i < 8; i++)
        part[i] = x[i * step];
    return _mm256_loadu_ps(part);
}

HG_INLINE void _mm256_storeu_ps(float *p, __m256 x)
{
    vec4_store(p, x.a);
    vec4_store(p + 4, x.b);
}

#define _mm256_store_ps _mm256_storeu_ps
#define _mm256_castsi256_ps(x) (x)
#define _mm256_castps_si256(x) (x)
#define _mm256_castps256_ps128(x) ((x).a)
#define _mm256_castps128_ps256(x) ((__m256){x, vec4_splat(0)})
#define _mm256_extractf128_ps(x, i) ((i) == 0 ? (x).a : (x).b)
#define _mm256_insertf128_ps(x, y, i) ((i) == 0 ? (__m256){y, (x).b} : (__m256){(x).a, y})
#define _mm256_cvtss_f32(x) vec4_first((x).a)
#define _mm256_slli_epi32(x, n) ((__m256){vec4_shl((x).a, n), vec4_shl((x).b, n)})

enum { _MM_FROUND_TO_NEAREST_INT = 0, _MM_FROUND_NO_EXC = 8 };
#define _mm256_round_ps(x, mode) ((__m256){vec4_nearest((x).a), vec4_nearest((x).b)})

enum { _CMP_UNORD_Q, _CMP_ORD_Q, _CMP_NLT_UQ, _CMP_LE_OQ, _CMP_NLE_UQ, _CMP_NEQ_UQ };

HG_INLINE vec4 vec4_cmp(vec4 x, vec4 y, int how)
{
    if (how == _CMP_NLT_UQ) return vec4_not_less(x, y);
    if (how == _CMP_LE_OQ) return vec4_at_most(x, y);
    if (how == _CMP_NLE_UQ) return vec4_not(vec4_at_most(x, y));
    if (how == _CMP_NEQ_UQ) return vec4_not(vec4_equal(x, y));
    return how == _CMP_ORD_Q ? vec4_not(vec4_unordered(x, y)) : vec4_unordered(x, y);
}
#define _mm256_cmp_ps(x, y, how)                                                                   \
    ((__m256){vec4_cmp((x).a, (y).a, how), vec4_cmp((x).b, (y).b, how)})

/* y where the mask is set; masks here are whole lanes. */
HG_INLINE __m256 _mm256_blendv_ps(__m256 x, __m256 y, __m256 mask)
{
    return (__m256){vec4_select(mask.a, y.a, x.a), vec4_select(mask.b, y.b, x.b)};
}

/* the two ways in which each is used */
#define _mm256_permute2f128_ps(x, y, how)                                                          \
    ((how) == 0x20 ? (__m256){(x).a, (y).a} : (__m256){(x).b, (y).b})
#define _mm256_shuffle_ps(x, y, how)                                                               \
    ((how) == 0x44 ? (__m256){vec4_lows((x).a, (y).a), vec4_lows((x).b, (y).b)}                    \
                   : (__m256){vec4_highs((x).a, (y).a), vec4_highs((x).b, (y).b)})

HG_INLINE vec4 vec4_hadd(vec4 x, vec4 y)
{
    return vec4_add(vec4_evens(x, y), vec4_odds(x, y));
}
#define _mm256_hadd_ps(x, y) ((__m256){vec4_hadd((x).a, (y).a), vec4_hadd((x).b, (y).b)})

HG_INLINE __m256 hg_vec8_evens(const float *x)
{
    const __m256 low = _mm256_loadu_ps(x), high = _mm256_loadu_ps(x + 7);
    return (__m256){vec4_evens(low.a, low.b), vec4_odds(high.a, high.b)};
}

/* Eight halves. */
HG_INLINE __m256 _mm256_cvtph_ps(vec4 h)
{
    return (__m256){vec4_from_low_halves(h), vec4_from_high_halves(h)};
}

/* ---- four floats ----------------------------------------------------------------------------- */

#define _mm_loadu_ps(p) vec4_load(p)
#define _mm_storeu_ps(p, x) vec4_store(p, x)
#define _mm_store_ss(p, x) vec4_store_1(p, x)
#define _mm_storel_pi(p, x) vec4_store_2(p, x)
#define _mm_add_ps vec4_add
#define _mm_add_ss vec4_add
#define _mm_max_ps vec4_max
#define _mm_max_ss vec4_max
#define _mm_movehl_ps(x, y) vec4_highs(y, x)
#define _mm_movehdup_ps(x) vec4_odds_twice(x)
#define _mm_cvtss_f32(x) vec4_first(x)
#define _mm_loadu_si128(p) vec4_load_any(p)
#define _mm_storeu_si128(p, x) vec4_store_any(p, x)
#define _cvtsh_ss(h) vec4_from_half(h)
typedef int64_t __m64;

enum { _MM_HINT_T0, _MM_HINT_T1 };
#define _mm_prefetch(p, how) vec4_fetch(p)

#endif

/* Sums of four vectors. */
HG_INLINE __m128 hg_vec8_sums(const __m256 *x)
{
    const __m256 t = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    return _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
}

#endif
