/* lane_pairs.h - two operations of the lane interpreter on float32 in one loop, with the bits of
 * both one after the other: the value between them stays in a register. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_PAIRS_H
#define HG_BACKEND_CPU_AVX2_LANE_PAIRS_H

#include "backend/cpu/vec8.h"
#include "isa/lane_ops.h"

/* x != x ? x : (x > y ? x : y) */
HG_INLINE __m256 lane_pair_max(__m256 x, __m256 y)
{
    return _mm256_blendv_ps(_mm256_max_ps(x, y), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

HG_INLINE __m256 lane_pair_min(__m256 x, __m256 y)
{
    return _mm256_blendv_ps(_mm256_min_ps(x, y), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* d[i] = second(first(a[i], b[i]), c[i]) */
#define LANE_PAIR(name, first, second)                                                             \
    static void lane_pair_##name(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,                 \
                                 const void *HG_RESTRICT b_, const void *HG_RESTRICT c_,           \
                                 int64_t n)                                                        \
    {                                                                                              \
        float *HG_RESTRICT d = d_;                                                                 \
        const float *HG_RESTRICT a = a_, *HG_RESTRICT b = b_, *HG_RESTRICT c = c_;                 \
        for (int64_t i = 0; i < n; i += 8)                                                         \
            _mm256_storeu_ps(d + i, second(first(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)),  \
                                           _mm256_loadu_ps(c + i)));                               \
    }
LANE_PAIR(mul_add, _mm256_mul_ps, _mm256_add_ps)
LANE_PAIR(add_mul, _mm256_add_ps, _mm256_mul_ps)
LANE_PAIR(sub_mul, _mm256_sub_ps, _mm256_mul_ps)
LANE_PAIR(mul_mul, _mm256_mul_ps, _mm256_mul_ps)
LANE_PAIR(max_min, lane_pair_max, lane_pair_min)
#undef LANE_PAIR

/* The loop of a pair of operations, or NULL. */
static hg_lane_fn hg_lane_pair_of(uint32_t first, uint32_t second)
{
    if (second == HG_LANE_ADD) return first == HG_LANE_MUL ? lane_pair_mul_add : NULL;
    if (second == HG_LANE_MIN) return first == HG_LANE_MAX ? lane_pair_max_min : NULL;
    if (second != HG_LANE_MUL) return NULL;
    return first == HG_LANE_ADD   ? lane_pair_add_mul
           : first == HG_LANE_SUB ? lane_pair_sub_mul
           : first == HG_LANE_MUL ? lane_pair_mul_mul
                                  : NULL;
}

#endif
