/* part8.h - some of eight floats: the right edge of rows whose length is no multiple of eight. */
#ifndef HG_BACKEND_CPU_AVX2_PART8_H
#define HG_BACKEND_CPU_AVX2_PART8_H

#include "backend/cpu/vec8.h"

#if !defined(__wasm__) && !defined(__aarch64__)
HG_INLINE __m256i hg_part8_mask(int64_t count)
{
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(mask + 8 - count));
}
#endif

/* The first `count` of eight floats, 0 to 7, and zeros; nothing behind them is read. */
HG_INLINE __m256 hg_part8_load(const float *p, int64_t count)
{
#if defined(__wasm__) || defined(__aarch64__)
    float part[8] = {0};
    for (int64_t j = 0; j < count; j++)
        part[j] = p[j];
    return _mm256_loadu_ps(part);
#else
    return _mm256_maskload_ps(p, hg_part8_mask(count));
#endif
}

/* The same of a vector. */
HG_INLINE __m256 hg_part8_keep(__m256 x, int64_t count)
{
#if defined(__wasm__) || defined(__aarch64__)
    float part[8];
    _mm256_storeu_ps(part, x);
    return hg_part8_load(part, count);
#else
    return _mm256_and_ps(x, _mm256_castsi256_ps(hg_part8_mask(count)));
#endif
}

/* Stores the first `count` of eight floats, 0 to 7, in whole pieces: stores with a mask take a
 * dozen cycles on some processors. */
HG_INLINE void hg_part8_store(float *p, int64_t count, __m256 x)
{
    __m128 rest = _mm256_castps256_ps128(x);
    if (count & 4) {
        _mm_storeu_ps(p, rest);
        rest = _mm256_extractf128_ps(x, 1);
        p += 4;
    }
    if (count & 2) {
        _mm_storel_pi((__m64 *)(void *)p, rest);
        rest = _mm_movehl_ps(rest, rest);
        p += 2;
    }
    if (count & 1) _mm_store_ss(p, rest);
}

#endif
