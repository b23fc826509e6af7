/* math8.h - functions of eight floats at once, with the polynomials of isa/lane_math.h and fused
 * multiply-adds. NaN stays NaN. */
#ifndef HG_BACKEND_CPU_AVX2_MATH8_H
#define HG_BACKEND_CPU_AVX2_MATH8_H

#include "backend/cpu/vec8.h"

/* exp(x) for x <= 88, within 1.3 units in the last place; below 2^-126 it is 0. */
HG_INLINE __m256 hg_exp8(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f + 127);
    const __m256 is_normal = _mm256_cmp_ps(x, _mm256_set1_ps(-87.3f), _CMP_NLT_UQ);
    const __m256 t = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), magic);
    const __m256 n = _mm256_sub_ps(t, magic);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e4p-1f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.7f7d1cp-20f), r);
    const __m256 rr = _mm256_mul_ps(r, r);
    __m256 p = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.6d5a42p-10f), _mm256_set1_ps(0x1.120adap-7f));
    const __m256 q = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.5554dep-3f), _mm256_set1_ps(0x1p-1f));
    p = _mm256_fmadd_ps(r, p, _mm256_set1_ps(0x1.5554dep-5f));
    p = _mm256_fmadd_ps(rr, p, q);
    const __m256 y = _mm256_add_ps(_mm256_fmadd_ps(rr, p, r), _mm256_set1_ps(1));
    const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_and_ps(_mm256_mul_ps(y, _mm256_castsi256_ps(power)), is_normal);
}

/* 1 / (1 + exp(-x)), within 3 units; below 2^-126 it is 0. */
HG_INLINE __m256 hg_sigmoid8(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1), minus = _mm256_xor_ps(x, _mm256_set1_ps(-0.0f));
    const __m256 is_normal = _mm256_cmp_ps(x, _mm256_set1_ps(-87.3f), _CMP_NLT_UQ);
    /* operands in this order keep a NaN */
    const __m256 e = hg_exp8(_mm256_min_ps(_mm256_set1_ps(88), minus));
    return _mm256_and_ps(_mm256_div_ps(one, _mm256_add_ps(one, e)), is_normal);
}

/* tanh(x), within 2 units. */
HG_INLINE __m256 hg_tanh8(__m256 x)
{
    const __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0f)), a = _mm256_xor_ps(x, sign);
    const __m256 one = _mm256_set1_ps(1), z = _mm256_mul_ps(x, x), zz = _mm256_mul_ps(z, z);
    /* (tanh(x) - x) / x^3 in x^2 <= 0.391 */
    __m256 p = _mm256_fmadd_ps(zz, _mm256_set1_ps(-0x1.8da088p-8f), _mm256_set1_ps(-0x1.b91ccp-5f));
    p = _mm256_fmadd_ps(zz, p, _mm256_set1_ps(-0x1.555552p-2f));
    const __m256 q =
        _mm256_fmadd_ps(zz, _mm256_set1_ps(0x1.57b138p-6f), _mm256_set1_ps(0x1.110df4p-3f));
    p = _mm256_fmadd_ps(z, q, p);
    const __m256 near = _mm256_fmadd_ps(a, _mm256_mul_ps(z, p), a);
    const __m256 b = _mm256_min_ps(_mm256_set1_ps(10), a);
    const __m256 e = _mm256_add_ps(hg_exp8(_mm256_add_ps(b, b)), one);
    const __m256 far = _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2), e));
    const __m256 is_near = _mm256_cmp_ps(_mm256_set1_ps(0.625f), a, _CMP_NLT_UQ);
    return _mm256_xor_ps(_mm256_blendv_ps(far, near, is_near), sign);
}

#endif
