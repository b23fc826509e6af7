/* table_whole.h - 256 entries of a byte with AVX2; table.c has the reasons. */
#ifndef HG_BACKEND_CPU_AVX2_TABLE_WHOLE_H
#define HG_BACKEND_CPU_AVX2_TABLE_WHOLE_H

#include "base/base.h"

#include <immintrin.h>

/* Keeps the compiler from starting all shuffles at once, which spills half of them. */
#define LOOKUP_NOW(v) __asm__ volatile("" : "+x"(v))

/* Four chains over the quarters: below 128, below 64, from 128 on, 128 to 191. */
HG_INLINE __m256i lookup_whole(const __m256i *part, __m256i x)
{
    const __m256i quarter = _mm256_set1_epi8(64);
    const __m256i y = _mm256_xor_si256(x, _mm256_set1_epi8(-128));
    const __m256i x1 = _mm256_adds_epu8(x, quarter), y1 = _mm256_adds_epu8(y, quarter);
    __m256i bit4 = _mm256_slli_epi16(x, 3), bit5 = _mm256_slli_epi16(x, 2), sum[4];
    HG_UNROLL
    for (int k = 0; k < 4; k++) {
        const __m256i low =
            _mm256_xor_si256(_mm256_shuffle_epi8(part[k], x), _mm256_shuffle_epi8(part[4 + k], x1));
        const __m256i high = _mm256_xor_si256(_mm256_shuffle_epi8(part[8 + k], y),
                                              _mm256_shuffle_epi8(part[12 + k], y1));
        sum[k] = _mm256_xor_si256(low, high);
        LOOKUP_NOW(sum[k]);
    }
    LOOKUP_NOW(bit4); /* or a compare with zero is put before each blend */
    LOOKUP_NOW(bit5);
    return _mm256_blendv_epi8(_mm256_blendv_epi8(sum[0], sum[1], bit4),
                              _mm256_blendv_epi8(sum[2], sum[3], bit4), bit5);
}

/* The sixteens of a table as lookup_whole wants them: quarters 1, 0 ^ 1, 3, 2 ^ 3. */
HG_INLINE void lookup_quarters(const uint8_t *entry, __m256i part[16])
{
    for (int k = 0; k < 16; k++) {
        const int from = k / 4 % 2 == 0 ? k + 4 : k;
        part[k] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128((const __m128i *)(const void *)(entry + 16 * from)));
    }
    for (int k = 0; k < 16; k++)
        if (k / 4 % 2 == 1)
            part[k] = _mm256_xor_si256(part[k],
                                       _mm256_broadcastsi128_si256(_mm_loadu_si128(
                                           (const __m128i *)(const void *)(entry + 16 * (k - 4)))));
}

#endif
