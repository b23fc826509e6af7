/* lane_pairs.h - loops of the lane interpreter on float32 that it does not have itself: two
 * operations in one, with the bits of both one after the other and the value between them in a
 * register; and operations whose second operand is one value. */
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
LANE_PAIR(mul_max, _mm256_mul_ps, lane_pair_max)
#undef LANE_PAIR

/* d[i] = second(first(a[i], b), c) */
#define LANE_ONES(name, first, second)                                                             \
    static void lane_ones_##name(void *HG_RESTRICT d_, const void *HG_RESTRICT a_,                 \
                                 const void *HG_RESTRICT b_, const void *HG_RESTRICT c_,           \
                                 int64_t n)                                                        \
    {                                                                                              \
        float *HG_RESTRICT d = d_;                                                                 \
        const float *HG_RESTRICT a = a_;                                                           \
        const __m256 b = _mm256_set1_ps(*(const float *)b_);                                       \
        const __m256 c = _mm256_set1_ps(*(const float *)c_);                                       \
        (void)c;                                                                                   \
        for (int64_t i = 0; i < n; i += 8)                                                         \
            _mm256_storeu_ps(d + i, second(first(_mm256_loadu_ps(a + i), b), c));                  \
    }
#define LANE_ONE_ALONE(x, c) (x)
LANE_ONES(add, _mm256_add_ps, LANE_ONE_ALONE)
LANE_ONES(sub, _mm256_sub_ps, LANE_ONE_ALONE)
LANE_ONES(mul, _mm256_mul_ps, LANE_ONE_ALONE)
LANE_ONES(div, _mm256_div_ps, LANE_ONE_ALONE)
LANE_ONES(mul_add, _mm256_mul_ps, _mm256_add_ps)
LANE_ONES(sub_mul, _mm256_sub_ps, _mm256_mul_ps)
#undef LANE_ONE_ALONE
#undef LANE_ONES

/* The loop of an operation whose second operand is one value, or NULL. */
static hg_lane_fn hg_lane_one_of(uint32_t op)
{
    return op == HG_LANE_ADD   ? lane_ones_add
           : op == HG_LANE_SUB ? lane_ones_sub
           : op == HG_LANE_MUL ? lane_ones_mul
           : op == HG_LANE_DIV ? lane_ones_div
                               : NULL;
}

/* The loop of a pair of operations, or NULL. */
static hg_lane_fn hg_lane_pair_of(uint32_t first, uint32_t second, uint32_t ones)
{
    if (ones == (HG_LANE_ONE | HG_LANE_ONE_THEN))
        return first == HG_LANE_MUL && second == HG_LANE_ADD   ? lane_ones_mul_add
               : first == HG_LANE_SUB && second == HG_LANE_MUL ? lane_ones_sub_mul
                                                               : NULL;
    if (ones != 0) return NULL;
    if (second == HG_LANE_ADD) return first == HG_LANE_MUL ? lane_pair_mul_add : NULL;
    if (second == HG_LANE_MIN) return first == HG_LANE_MAX ? lane_pair_max_min : NULL;
    if (second == HG_LANE_MAX) return first == HG_LANE_MUL ? lane_pair_mul_max : NULL;
    if (second != HG_LANE_MUL) return NULL;
    return first == HG_LANE_ADD   ? lane_pair_add_mul
           : first == HG_LANE_SUB ? lane_pair_sub_mul
           : first == HG_LANE_MUL ? lane_pair_mul_mul
                                  : NULL;
}

#endif
