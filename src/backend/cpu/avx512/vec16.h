/* vec16.h - the names of vec8.h on vectors of sixteen floats, those of AVX-512, so that a source of
 * avx2/ serves both: avx512/ includes it behind this header. Such a source has HG_LANES where eight
 * stands for the width, and no comparison outside of hg_vec8_if and hg_vec8_choose. Each lane does
 * the same operations at both widths: the bits are the same. Only what those sources use is here.
 */
#ifndef HG_BACKEND_CPU_AVX512_VEC16_H
#define HG_BACKEND_CPU_AVX512_VEC16_H

#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/vec8.h"

/* In the order of avx2/row8.h. */
HG_INLINE float hg_vec16_sum(__m512 x)
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 y = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    y = _mm_add_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

/* Some of sixteen floats, as in part8.h. */
#define HG_PART16(count) ((__mmask16)((1U << (count)) - 1))
#define hg_part8_load(p, count) _mm512_maskz_loadu_ps(HG_PART16(count), p)
#define hg_part8_keep(x, count) _mm512_maskz_mov_ps(HG_PART16(count), x)
#define hg_part8_store(p, count, x) _mm512_mask_storeu_ps(p, HG_PART16(count), x)

#define __m256 __m512
#define __m256d __m512d
#define __m256i __m512i
#define _mm256_add_epi32 _mm512_add_epi32
#define _mm256_add_pd _mm512_add_pd
#define _mm256_add_ps _mm512_add_ps
#define _mm256_and_ps _mm512_and_ps
#define _mm256_broadcast_sd(p) _mm512_set1_pd(*(p))
#define _mm256_broadcast_ss(p) _mm512_set1_ps(*(p))
#define _mm256_castps_si256 _mm512_castps_si512
#define _mm256_castsi256_ps _mm512_castsi512_ps
#define _mm256_div_ps _mm512_div_ps
#define _mm256_fmadd_pd _mm512_fmadd_pd
#define _mm256_fmadd_ps _mm512_fmadd_ps
#define _mm256_fmsub_ps _mm512_fmsub_ps
#define _mm256_fnmadd_ps _mm512_fnmadd_ps
#define _mm256_loadu_pd _mm512_loadu_pd
#define _mm256_loadu_ps _mm512_loadu_ps
#define _mm256_max_ps _mm512_max_ps
#define _mm256_min_ps _mm512_min_ps
#define _mm256_mul_pd _mm512_mul_pd
#define _mm256_mul_ps _mm512_mul_ps
#define _mm256_set1_epi32 _mm512_set1_epi32
#define _mm256_set1_pd _mm512_set1_pd
#define _mm256_set1_ps _mm512_set1_ps
#define _mm256_setzero_pd _mm512_setzero_pd
#define _mm256_setzero_ps _mm512_setzero_ps
#define _mm256_slli_epi32 _mm512_slli_epi32
#define _mm256_storeu_pd _mm512_storeu_pd
#define _mm256_storeu_ps _mm512_storeu_ps
#define _mm256_sub_pd _mm512_sub_pd
#define _mm256_sub_ps _mm512_sub_ps
#define _mm256_xor_ps _mm512_xor_ps

#undef HG_LANES
#define HG_LANES 16

#undef hg_vec8_if
#define hg_vec8_if(x, how, y, yes) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, y, how), yes)
#undef hg_vec8_choose
#define hg_vec8_choose(x, how, y, yes, no)                                                         \
    _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(x, y, how), yes)

#endif
