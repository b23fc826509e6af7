/* pixels.h - pixels of three bytes and planes with AVX2: nine shuffles take 48 bytes apart, or put
 * them together from planes. */
#ifndef HG_BACKEND_CPU_AVX2_PIXELS_H
#define HG_BACKEND_CPU_AVX2_PIXELS_H

#include "base/base.h"

#include <immintrin.h>

HG_INLINE __m128i pixels_get(const uint8_t *x)
{
    return _mm_loadu_si128((const __m128i *)(const void *)x);
}

HG_INLINE __m256i pixels_pair(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

HG_INLINE void pixels_put(uint8_t *y, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)y, v);
}

/* Bytes of vector k of three that belong to plane c, which are at 3 i + c of 48, in their order. */
HG_INLINE __m256i pixels_plane_order(int c, int k)
{
    uint8_t order[16];
    for (int i = 0; i < 16; i++) {
        const int at = 3 * i + c - 16 * k;
        order[i] = at >= 0 && at < 16 ? (uint8_t)at : 0x80;
    }
    return _mm256_broadcastsi128_si256(pixels_get(order));
}

/* Place p = 16 k + i of 48 has byte p / 3 of plane p % 3, where that is c. */
HG_INLINE __m256i pixels_pixel_order(int c, int k)
{
    uint8_t order[16];
    for (int i = 0; i < 16; i++)
        order[i] = (16 * k + i) % 3 == c ? (uint8_t)((16 * k + i) / 3) : 0x80;
    return _mm256_broadcastsi128_si256(pixels_get(order));
}

HG_INLINE __m256i pixels_pick(const __m256i *v, const __m256i *order)
{
    return _mm256_or_si256(
        _mm256_or_si256(_mm256_shuffle_epi8(v[0], order[0]), _mm256_shuffle_epi8(v[1], order[1])),
        _mm256_shuffle_epi8(v[2], order[2]));
}

#endif
