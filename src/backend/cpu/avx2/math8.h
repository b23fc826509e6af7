/* math8.h - functions of eight floats at once (sixteen behind vec16.h), with the polynomials of
 * isa/lane_math.h and fused multiply-adds. NaN stays NaN. */
#ifndef HG_BACKEND_CPU_AVX2_MATH8_H
#define HG_BACKEND_CPU_AVX2_MATH8_H

#include "backend/cpu/vec8.h"

/* exp(x) - 1 = 2^k (1 + s) - 1; the low 9 bits of t are k + 127. |x| < 2^20. */
HG_INLINE __m256 hg_exp8_parts(__m256 x, __m256 *t)
{
    const __m256 magic = _mm256_set1_ps(0x1.8p23f + 127);
    *t = _mm256_fmadd_ps(x, _mm256_set1_ps(0x1.715476p+0f), magic);
    const __m256 n = _mm256_sub_ps(*t, magic);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e4p-1f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.7f7d1cp-20f), r);
    const __m256 rr = _mm256_mul_ps(r, r);
    __m256 p = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.6d5a42p-10f), _mm256_set1_ps(0x1.120adap-7f));
    const __m256 q = _mm256_fmadd_ps(r, _mm256_set1_ps(0x1.5554dep-3f), _mm256_set1_ps(0x1p-1f));
    p = _mm256_fmadd_ps(r, p, _mm256_set1_ps(0x1.5554dep-5f));
    p = _mm256_fmadd_ps(rr, p, q);
    return _mm256_fmadd_ps(rr, p, r);
}

/* 2^k from t; infinity for k = 128. */
HG_INLINE __m256 hg_exp8_power(__m256 t)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(t), 23));
}

/* exp(x) for x <= 88, within 1.3 units in the last place; below 2^-126 it is 0. */
HG_INLINE __m256 hg_exp8(__m256 x)
{
    __m256 t;
    const __m256 y = _mm256_add_ps(hg_exp8_parts(x, &t), _mm256_set1_ps(1));
    return hg_vec8_if(x, _CMP_NLT_UQ, _mm256_set1_ps(-87.3f), _mm256_mul_ps(y, hg_exp8_power(t)));
}

/* tanh(x) within 4e-7: a quotient of polynomials in x^2 up to 9, beyond which it is 1. Operands of
 * min and max in this order keep a NaN. */
HG_INLINE __m256 hg_tanh8(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1), minus = _mm256_set1_ps(-1);
    x = _mm256_min_ps(_mm256_set1_ps(9), _mm256_max_ps(_mm256_set1_ps(-9), x));
    const __m256 z = _mm256_mul_ps(x, x);
    __m256 p = _mm256_fmadd_ps(z, _mm256_set1_ps(0x1.cadf12p-27f), _mm256_set1_ps(0x1.59c44ep-16f));
    __m256 q = _mm256_fmadd_ps(z, _mm256_set1_ps(0x1.a181ccp-21f), _mm256_set1_ps(0x1.5886bcp-12f));
    p = _mm256_fmadd_ps(z, p, _mm256_set1_ps(0x1.ca2cfep-9f));
    q = _mm256_fmadd_ps(z, q, _mm256_set1_ps(0x1.a7f83p-6f));
    p = _mm256_fmadd_ps(z, p, _mm256_set1_ps(0x1.120b2ep-3f));
    q = _mm256_fmadd_ps(z, q, _mm256_set1_ps(0x1.de5aep-2f));
    p = _mm256_mul_ps(x, _mm256_fmadd_ps(z, p, one));
    q = _mm256_fmadd_ps(z, q, one);
    return _mm256_min_ps(one, _mm256_max_ps(minus, _mm256_div_ps(p, q)));
}

#endif
