/* turn.h - blocks of eight by eight or four elements of 32 bits, transposed in registers. */
#ifndef HG_BACKEND_CPU_AVX2_TURN_H
#define HG_BACKEND_CPU_AVX2_TURN_H

#include "backend/cpu/vec8.h"

/* Four elements of rows i and i + 4 side by side: the last step of the usual three is done by the
 * loads. */
HG_INLINE __m256 turn_pair(const float *src, int64_t src_ld, int i)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(src + i * src_ld)),
                                _mm_loadu_ps(src + (i + 4) * src_ld), 1);
}

/* Element j of row i becomes element i of row j, of four by four in each half. */
HG_INLINE void turn_halves(const __m256 *r, __m256 *to)
{
    const __m256 t[4] = {_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]),
                         _mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3])};
    to[0] = _mm256_shuffle_ps(t[0], t[2], 0x44);
    to[1] = _mm256_shuffle_ps(t[0], t[2], 0xee);
    to[2] = _mm256_shuffle_ps(t[1], t[3], 0x44);
    to[3] = _mm256_shuffle_ps(t[1], t[3], 0xee);
}

/* dst[j * dst_ld + i] = src[i * src_ld + j] of eight i and four j; of three j four are read. */
HG_INLINE void turn_8x4(const float *src, int64_t src_ld, float *dst, int64_t dst_ld,
                        const bool is_four)
{
    __m256 r[4], t[4];
    HG_UNROLL
    for (int i = 0; i < 4; i++)
        r[i] = turn_pair(src, src_ld, i);
    turn_halves(r, t);
    _mm256_storeu_ps(dst, t[0]);
    _mm256_storeu_ps(dst + dst_ld, t[1]);
    _mm256_storeu_ps(dst + 2 * dst_ld, t[2]);
    if (is_four) _mm256_storeu_ps(dst + 3 * dst_ld, t[3]);
}

HG_INLINE void turn_8x8(const float *src, int64_t src_ld, float *dst, int64_t dst_ld)
{
    turn_8x4(src, src_ld, dst, dst_ld, true);
    turn_8x4(src + 4, src_ld, dst + 4 * dst_ld, dst_ld, true);
}

/* y[p * n + i] = x[i * stride + p] for p < pixels: 2 to 4 planes become pixels. Defined in
 * copy_words.c. */
void hg_copy_pixels_avx2(float *y, const float *x, int64_t stride, int64_t pixels, int64_t n);

#endif
