/* byteops.c - byteops with AVX-512: 512 codes go through the program together. */
#include "kernel/byteops.h"

#include <immintrin.h>

enum { BYTEOPS_VECTOR = 64, BYTEOPS_TOGETHER = 8 };

typedef __m512i byteops_vec;

HG_INLINE byteops_vec byteops_list(const uint8_t *list)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)list));
}

#define byteops_get(x) _mm512_loadu_si512(x)
#define byteops_put(y, v) _mm512_storeu_si512(y, v)
#define byteops_splat(c) _mm512_set1_epi8((char)(c))
#define byteops_add _mm512_add_epi8
#define byteops_from(a, c) _mm512_sub_epi8(c, a)
#define byteops_xor _mm512_xor_si512
#define byteops_and _mm512_and_si512
#define byteops_or _mm512_or_si512
#define byteops_add_u8 _mm512_adds_epu8
#define byteops_sub_u8 _mm512_subs_epu8
#define byteops_add_i8 _mm512_adds_epi8
#define byteops_sub_i8 _mm512_subs_epi8
#define byteops_min_u8 _mm512_min_epu8
#define byteops_max_u8 _mm512_max_epu8
#define byteops_min_i8 _mm512_min_epi8
#define byteops_max_i8 _mm512_max_epi8
#define byteops_equal(a, c) _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(a, c))
#define byteops_more_i8(a, c) _mm512_movm_epi8(_mm512_cmpgt_epi8_mask(a, c))
#define byteops_abs_i8 _mm512_abs_epi8
#define byteops_look _mm512_shuffle_epi8
#define byteops_outside(most, top) (_mm512_cmpgt_epu8_mask(most, top) != 0)

/* Bits of the neighbours come in and are masked. */
HG_INLINE byteops_vec byteops_right(byteops_vec v, uint8_t by)
{
    const __m128i n = _mm_cvtsi32_si128(by);
    return _mm512_and_si512(_mm512_srl_epi16(v, n), byteops_splat(255 >> by));
}

HG_INLINE byteops_vec byteops_left(byteops_vec v, uint8_t by)
{
    const __m128i n = _mm_cvtsi32_si128(by);
    return _mm512_and_si512(_mm512_sll_epi16(v, n), byteops_splat(255 << by));
}

#include "backend/cpu/byteops_run.inc"

const hg_kernel hg_kernels_byteops_avx512[] = {
    {.name = "byteops",
     .flags = HG_KERNEL_INPLACE,
     .cpu = HG_CPU_AVX2 | HG_CPU_AVX512,
     .check = hg_kernel_byteops_check,
     .units = hg_kernel_table_units,
     .cost = hg_kernel_byteops_cost,
     .run = byteops_run},
    {0},
};
