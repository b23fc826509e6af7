/* igemm_finish.c - epilogues that are chains with AVX2, 32 values at a time. */
#include "backend/cpu/avx2/igemm.h"

#include "backend/cpu/avx2/requant.h"
#include "isa/lane_math.h"

enum { FINISH_WIDE = 4, FINISH_LANES = 8 };

typedef __m256 finish_v, finish_mask;

#define finish_all(x) _mm256_set1_ps(x)
#define finish_all_int(x) _mm256_castsi256_ps(_mm256_set1_epi32(x))
#define finish_load(p) _mm256_loadu_ps(p)
#define finish_store(p, v) _mm256_storeu_ps(p, v)
#define finish_add(a, b) _mm256_add_ps(a, b)
#define finish_sub(a, b) _mm256_sub_ps(a, b)
#define finish_mul(a, b) _mm256_mul_ps(a, b)
#define finish_div(a, b) _mm256_div_ps(a, b)
#define finish_max(a, b) _mm256_max_ps(a, b)
#define finish_min(a, b) _mm256_min_ps(a, b)
#define finish_round(v) _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define finish_float(v) _mm256_cvtepi32_ps(_mm256_castps_si256(v))
#define finish_none() _mm256_setzero_ps()
#define finish_any(mask) (_mm256_movemask_ps(mask) != 0)

/* r, but v where that is NaN. */
HG_INLINE __m256 finish_keep_nan(__m256 r, __m256 v)
{
    return _mm256_blendv_ps(r, v, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

HG_INLINE __m256 finish_zero_nan(__m256 v)
{
    return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

/* Also marks where |d| is not at most the limit. */
HG_INLINE __m256 finish_mark(__m256 mask, __m256 d, __m256 limit)
{
    const __m256 size = _mm256_and_ps(d, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
    return _mm256_or_ps(mask, _mm256_cmp_ps(size, limit, _CMP_NLE_UQ));
}

HG_INLINE __m256 finish_add_int(__m256 a, __m256 b)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}

HG_INLINE __m256 finish_wrap(__m256 v, bool is_signed)
{
    const __m256i i = _mm256_cvttps_epi32(v);
    const __m256i low = is_signed ? _mm256_srai_epi32(_mm256_slli_epi32(i, 24), 24)
                                  : _mm256_and_si256(i, _mm256_set1_epi32(255));
    return _mm256_cvtepi32_ps(low);
}

HG_INLINE __m256 finish_bytes(const char *p, bool is_signed)
{
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm256_castsi256_ps(is_signed ? _mm256_cvtepi8_epi32(bytes)
                                         : _mm256_cvtepu8_epi32(bytes));
}

/* Bytes of packed vectors, which are in the order of their halves. */
HG_INLINE void finish_store_some(char *to, __m256i packed, const int wide)
{
    const __m256i bytes =
        _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    if (wide == FINISH_WIDE)
        _mm256_storeu_si256((__m256i *)(void *)to, bytes);
    else if (wide == FINISH_WIDE / 2)
        _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(bytes));
    else
        _mm_storel_epi64((__m128i *)(void *)to, _mm256_castsi256_si128(bytes));
}

/* The low bytes of whole numbers. */
HG_INLINE void finish_store_bytes(char *to, const __m256 *v, const int wide)
{
    const __m256i mask = _mm256_set1_epi32(255);
    __m256i w[FINISH_WIDE];
    HG_GEMM_UNROLL
    for (int k = 0; k < FINISH_WIDE; k++)
        w[k] = _mm256_and_si256(_mm256_cvttps_epi32(v[k < wide ? k : 0]), mask);
    finish_store_some(
        to, _mm256_packus_epi16(_mm256_packus_epi32(w[0], w[1]), _mm256_packus_epi32(w[2], w[3])),
        wide);
}

/* The low 16 bits. */
HG_INLINE void finish_store_shorts(int16_t *to, const __m256 *v, const int wide)
{
    const __m256i mask = _mm256_set1_epi32(65535);
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k += 2) {
        const __m256i left = _mm256_and_si256(_mm256_cvttps_epi32(v[k]), mask);
        const __m256i right =
            _mm256_and_si256(_mm256_cvttps_epi32(v[k + 1 < wide ? k + 1 : k]), mask);
        const __m256i shorts = _mm256_permute4x64_epi64(_mm256_packus_epi32(left, right), 0xd8);
        if (k + 1 < wide)
            _mm256_storeu_si256((__m256i *)(void *)(to + k * FINISH_LANES), shorts);
        else
            _mm_storeu_si128((__m128i *)(void *)(to + k * FINISH_LANES),
                             _mm256_castsi256_si128(shorts));
    }
}

typedef hg_requant finish_limits;
#define finish_limits_of(f) hg_requant_of(f)

/* Rounds, adds the zero point and limits. */
HG_INLINE void finish_store_codes(char *to, const __m256 *v, const int wide,
                                  const finish_limits *limits)
{
    const bool is_narrow = wide < FINISH_WIDE;
    const __m256i x = hg_requant_shorts(limits, v[0], v[wide == 1 ? 0 : 1]);
    const __m256i y =
        is_narrow ? x : hg_requant_shorts(limits, v[FINISH_WIDE - 2], v[FINISH_WIDE - 1]);
    finish_store_some(to, hg_requant_bytes(limits, x, y), wide);
}

#define IGEMM_FINISH static void igemm_finish_vectors
#include "backend/cpu/igemm_finish_run.inc"

void hg_igemm_finish_avx2(const hg_finish *f, const hg_epilogue_tile *tile, hg_epilogue_tile *rest)
{
    igemm_finish_vectors(f, tile, rest);
}
