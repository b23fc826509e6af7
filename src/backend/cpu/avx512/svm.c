/* svm.c - tiles of avx2/svm.h with AVX-512: each sum is the same chain of operations. */
#include "backend/cpu/avx2/svm.h"

#include <immintrin.h>

HG_INLINE __m512d svm_wide_add(__m512d sum, __m512d x, __m512d v, const hg_svm_how how)
{
    if (how == HG_SVM_FUSED) return _mm512_fmadd_pd(x, v, sum);
    if (how == HG_SVM_PRODUCT) return _mm512_add_pd(sum, _mm512_mul_pd(x, v));
    const __m512d off = _mm512_sub_pd(x, v);
    return _mm512_add_pd(sum, _mm512_mul_pd(off, off));
}

HG_INLINE void svm_wide_tile(const double *x, const double *v, int64_t n, const hg_svm_how how,
                             double *to, int64_t ld)
{
    __m512d a0 = _mm512_setzero_pd(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    for (int64_t i = 0; i < n; i++, x += HG_SVM_ROWS, v += HG_SVM_WIDE) {
        const __m512d low = _mm512_loadu_pd(v), high = _mm512_loadu_pd(v + 8);
        const __m512d a = _mm512_set1_pd(x[0]), b = _mm512_set1_pd(x[1]), c = _mm512_set1_pd(x[2]),
                      d = _mm512_set1_pd(x[3]);
        a0 = svm_wide_add(a0, a, low, how);
        a1 = svm_wide_add(a1, a, high, how);
        b0 = svm_wide_add(b0, b, low, how);
        b1 = svm_wide_add(b1, b, high, how);
        c0 = svm_wide_add(c0, c, low, how);
        c1 = svm_wide_add(c1, c, high, how);
        d0 = svm_wide_add(d0, d, low, how);
        d1 = svm_wide_add(d1, d, high, how);
    }
    const __m512d sum[HG_SVM_ROWS][2] = {{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}};
    for (int64_t r = 0; r < HG_SVM_ROWS; r++) {
        _mm512_storeu_pd(to + r * ld, sum[r][0]);
        _mm512_storeu_pd(to + r * ld + 8, sum[r][1]);
    }
}

void hg_svm_tile_avx512(const double *x, const double *v, int64_t n, hg_svm_how how, double *to,
                        int64_t ld)
{
    if (how == HG_SVM_DISTANCE)
        svm_wide_tile(x, v, n, HG_SVM_DISTANCE, to, ld);
    else if (how == HG_SVM_FUSED)
        svm_wide_tile(x, v, n, HG_SVM_FUSED, to, ld);
    else
        svm_wide_tile(x, v, n, HG_SVM_PRODUCT, to, ld);
}
