/* requant.h - sums of products of 8-bit codes become codes in registers with AVX2, where the
 * epilogue is a factor for each column (hg_finish.is_requant). The bits are those of the lane code.
 */
#ifndef HG_BACKEND_CPU_AVX2_REQUANT_H
#define HG_BACKEND_CPU_AVX2_REQUANT_H

#include "backend/cpu/avx2/gemm.h"
#include "kernel/igemm.h"

typedef struct hg_requant {
    __m256i zero, low, high; /* of 16 bits, of 8 */
    const int32_t *bias;     /* NULL: none; `bias_step` apart, 0: one for all */
    const float *scale;
    int64_t bias_step, scale_step;
    const uint8_t *side; /* codes that are added, NULL: none */
    __m256 side_zero, side_scale;
    uint8_t *out;
    int64_t columns;
    bool is_signed, side_is_signed;
} hg_requant;

HG_INLINE hg_requant hg_requant_of(const hg_finish *f)
{
    const hg_finish_step *s = f->main.step, *last = s + f->main.count - 1;
    const uint32_t first = s[0].kind == HG_FINISH_ADD_INT;
    const hg_finish_chain *side = &f->side;
    const bool joins = f->side_data != NULL;
    return (hg_requant){
        .zero = _mm256_set1_epi16((int16_t)last->zero),
        .low = _mm256_set1_epi8((char)(int32_t)last->low),
        .high = _mm256_set1_epi8((char)(int32_t)last->high),
        .bias = first == 0          ? NULL
                : s[0].data == NULL ? &s[0].value.i
                                    : s[0].data,
        .bias_step = s[0].data == NULL ? 0 : s[0].step,
        .scale = s[first + 1].data == NULL ? &s[first + 1].value.f : s[first + 1].data,
        .scale_step = s[first + 1].data == NULL ? 0 : s[first + 1].step,
        .side = f->side_data,
        .side_zero = _mm256_set1_ps(side->count == 3 ? side->step[1].value.f : 0),
        .side_scale = _mm256_set1_ps(joins ? side->step[side->count - 1].value.f : 0),
        .out = f->out,
        .columns = f->columns,
        .is_signed = f->out_type == HOLO_I8,
        .side_is_signed = f->side_type == HOLO_I8};
}

/* Of eight columns: what is added to their sums, and their factors. */
HG_INLINE __m256i hg_requant_bias(const hg_requant *q, int64_t col)
{
    if (q->bias == NULL) return _mm256_setzero_si256();
    if (q->bias_step == 0) return _mm256_set1_epi32(q->bias[0]);
    return _mm256_loadu_si256((const __m256i *)(const void *)(q->bias + col));
}

HG_INLINE __m256 hg_requant_scale(const hg_requant *q, int64_t col)
{
    return q->scale_step == 0 ? _mm256_set1_ps(q->scale[0]) : _mm256_loadu_ps(q->scale + col);
}

/* What eight codes of the side add, from byte `at` on. */
HG_INLINE __m256 hg_requant_side(const hg_requant *q, int64_t at)
{
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)(q->side + at));
    const __m256i wide =
        q->side_is_signed ? _mm256_cvtepi8_epi32(codes) : _mm256_cvtepu8_epi32(codes);
    return _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(wide), q->side_zero), q->side_scale);
}

/* Two vectors of numbers rounded, as 16 bits in the order of packing, zero point added. Those
 * beyond 16 bits stay beyond the limits. */
HG_INLINE __m256i hg_requant_shorts(const hg_requant *q, __m256 x, __m256 y)
{
    return _mm256_adds_epi16(_mm256_packs_epi32(_mm256_cvtps_epi32(x), _mm256_cvtps_epi32(y)),
                             q->zero);
}

HG_INLINE __m256i hg_requant_bytes(const hg_requant *q, __m256i x, __m256i y)
{
    if (q->is_signed)
        return _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(x, y), q->low), q->high);
    return _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(x, y), q->low), q->high);
}

#endif
