/* igemm_finish.c - epilogues that are chains with AVX-512, 64 values at a time. */
#include "backend/cpu/avx512/igemm.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/igemm.h"
#include "isa/lane_math.h"

enum { FINISH_WIDE = 4, FINISH_LANES = 16 };

typedef __m512 finish_v;
typedef __mmask16 finish_mask;

#define finish_all(x) _mm512_set1_ps(x)
#define finish_all_int(x) _mm512_castsi512_ps(_mm512_set1_epi32(x))
#define finish_load(p) _mm512_loadu_ps(p)
#define finish_store(p, v) _mm512_storeu_ps(p, v)
#define finish_add(a, b) _mm512_add_ps(a, b)
#define finish_sub(a, b) _mm512_sub_ps(a, b)
#define finish_mul(a, b) _mm512_mul_ps(a, b)
#define finish_div(a, b) _mm512_div_ps(a, b)
#define finish_max(a, b) _mm512_max_ps(a, b)
#define finish_min(a, b) _mm512_min_ps(a, b)
#define finish_round(v) _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define finish_float(v) _mm512_cvtepi32_ps(_mm512_castps_si512(v))
#define finish_none() 0
#define finish_any(mask) ((mask) != 0)

/* r, but v where that is NaN. */
HG_INLINE __m512 finish_keep_nan(__m512 r, __m512 v)
{
    return _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), v);
}

HG_INLINE __m512 finish_zero_nan(__m512 v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
}

/* Also marks where |d| is not at most the limit. */
HG_INLINE __mmask16 finish_mark(__mmask16 mask, __m512 d, __m512 limit)
{
    return (__mmask16)(mask | _mm512_cmp_ps_mask(_mm512_abs_ps(d), limit, _CMP_NLE_UQ));
}

HG_INLINE __m512 finish_add_int(__m512 a, __m512 b)
{
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}

HG_INLINE __m512 finish_wrap(__m512 v, bool is_signed)
{
    const __m128i low = _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v));
    return _mm512_cvtepi32_ps(is_signed ? _mm512_cvtepi8_epi32(low) : _mm512_cvtepu8_epi32(low));
}

HG_INLINE __m512 finish_bytes(const char *p, bool is_signed)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm512_castsi512_ps(is_signed ? _mm512_cvtepi8_epi32(bytes)
                                         : _mm512_cvtepu8_epi32(bytes));
}

/* The low bytes of whole numbers. */
HG_INLINE void finish_store_bytes(char *to, const __m512 *v, const int wide)
{
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++)
        _mm_storeu_si128((__m128i *)(void *)(to + k * FINISH_LANES),
                         _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v[k])));
}

/* The low 16 bits. */
HG_INLINE void finish_store_shorts(int16_t *to, const __m512 *v, const int wide)
{
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++)
        _mm256_storeu_si256((__m256i *)(void *)(to + k * FINISH_LANES),
                            _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(v[k])));
}

typedef struct finish_limits {
    __m512i zero, low, high;
    __m512i entry[4]; /* with looks */
    bool looks;
} finish_limits;

HG_INLINE finish_limits finish_limits_of(const hg_finish *f)
{
    const hg_finish_step *s = &f->main.step[f->main.count - 1];
    finish_limits limits = {.zero = _mm512_set1_epi32((int32_t)s->zero),
                            .low = _mm512_set1_epi32((int32_t)s->low),
                            .high = _mm512_set1_epi32((int32_t)s->high),
                            .looks = f->lookup != NULL};
    for (int k = 0; limits.looks && k < 4; k++)
        limits.entry[k] = _mm512_loadu_si512(f->lookup + 64 * k);
    return limits;
}

HG_INLINE __m512i finish_look(const finish_limits *limits, __m512i codes)
{
    const __m512i *e = limits->entry;
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes),
                                  _mm512_permutex2var_epi8(e[0], codes, e[1]),
                                  _mm512_permutex2var_epi8(e[2], codes, e[3]));
}

/* Rounds, adds the zero point, limits and looks up. */
HG_INLINE void finish_store_codes(char *to, const __m512 *v, const int wide,
                                  const finish_limits *limits)
{
    __m512i codes = _mm512_setzero_si512();
    HG_GEMM_UNROLL
    for (int k = 0; k < wide; k++) {
        const __m512i code = _mm512_add_epi32(_mm512_cvtps_epi32(v[k]), limits->zero);
        const __m512i limited = _mm512_min_epi32(_mm512_max_epi32(code, limits->low), limits->high);
        const __m128i bytes = _mm512_cvtepi32_epi8(limited);
        if (!limits->looks)
            _mm_storeu_si128((__m128i *)(void *)(to + k * FINISH_LANES), bytes);
        else
            codes = k == 0   ? _mm512_castsi128_si512(bytes)
                    : k == 1 ? _mm512_inserti32x4(codes, bytes, 1)
                    : k == 2 ? _mm512_inserti32x4(codes, bytes, 2)
                             : _mm512_inserti32x4(codes, bytes, 3);
    }
    if (limits->looks)
        _mm512_mask_storeu_epi8(to, UINT64_MAX >> (64 - wide * FINISH_LANES),
                                finish_look(limits, codes));
}

#define IGEMM_FINISH static void igemm_finish_vectors
#include "backend/cpu/igemm_finish_run.inc"

/* Fewer than 16 columns at the end: eight of them with AVX2. */
void hg_igemm_finish_avx512(const hg_finish *f, const hg_epilogue_tile *t, hg_epilogue_tile *rest)
{
    hg_epilogue_tile left;
    igemm_finish_vectors(f, t, &left);
    hg_igemm_finish_avx2(f, &left, rest);
}
