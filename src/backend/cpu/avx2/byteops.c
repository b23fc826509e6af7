/* byteops.c - byteops with AVX2: 256 codes go through the program together. */
#include "kernel/byteops.h"

#include <immintrin.h>

enum { BYTEOPS_VECTOR = 32, BYTEOPS_TOGETHER = 8 };

typedef __m256i byteops_vec;

HG_INLINE byteops_vec byteops_get(const uint8_t *x)
{
    return _mm256_loadu_si256((const __m256i *)x);
}

HG_INLINE void byteops_put(uint8_t *y, byteops_vec v)
{
    _mm256_storeu_si256((__m256i *)y, v);
}

HG_INLINE byteops_vec byteops_list(const uint8_t *list)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)list));
}

#define byteops_splat(c) _mm256_set1_epi8((char)(c))
#define byteops_add _mm256_add_epi8
#define byteops_from(a, c) _mm256_sub_epi8(c, a)
#define byteops_xor _mm256_xor_si256
#define byteops_and _mm256_and_si256
#define byteops_or _mm256_or_si256
#define byteops_add_u8 _mm256_adds_epu8
#define byteops_sub_u8 _mm256_subs_epu8
#define byteops_add_i8 _mm256_adds_epi8
#define byteops_sub_i8 _mm256_subs_epi8
#define byteops_min_u8 _mm256_min_epu8
#define byteops_max_u8 _mm256_max_epu8
#define byteops_min_i8 _mm256_min_epi8
#define byteops_max_i8 _mm256_max_epi8
#define byteops_equal _mm256_cmpeq_epi8
#define byteops_more_i8 _mm256_cmpgt_epi8
#define byteops_abs_i8 _mm256_abs_epi8
#define byteops_look _mm256_shuffle_epi8

/* Bits of the neighbours come in and are masked. */
HG_INLINE byteops_vec byteops_right(byteops_vec v, uint8_t by)
{
    const __m128i n = _mm_cvtsi32_si128(by);
    return _mm256_and_si256(_mm256_srl_epi16(v, n), byteops_splat(255 >> by));
}

HG_INLINE byteops_vec byteops_left(byteops_vec v, uint8_t by)
{
    const __m128i n = _mm_cvtsi32_si128(by);
    return _mm256_and_si256(_mm256_sll_epi16(v, n), byteops_splat(255 << by));
}

HG_INLINE bool byteops_outside(byteops_vec most, byteops_vec top)
{
    return _mm256_testz_si256(_mm256_subs_epu8(most, top), byteops_splat(255)) == 0;
}

#include "backend/cpu/byteops_run.inc"

const hg_kernel hg_kernels_byteops_avx2[] = {
    {.name = "byteops",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_AVX2,
     .check = hg_kernel_byteops_check,
     .units = hg_kernel_table_units,
     .cost = hg_kernel_byteops_cost,
     .run = byteops_run},
    {0},
};
