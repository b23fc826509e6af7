/* svm.h - tiles of the kernel "svm.near.t": a few rows against a panel of support vectors, as many
 * as a vector of floats has lanes (vec8.h, vec16.h). Each sum is the same chain of operations at
 * both widths. */
#ifndef HG_BACKEND_CPU_AVX2_SVM_H
#define HG_BACKEND_CPU_AVX2_SVM_H

#include "backend/cpu/vec8.h"

enum {
    HG_SVM_ROWS = 4,
    HG_SVM_WIDE = 16 /* vectors of a panel with AVX-512 */
};

/* How a term is added. The product of two float32 is exact in float64: fused with its addition it
 * gives the same bits. */
typedef enum hg_svm_how { HG_SVM_FUSED, HG_SVM_PRODUCT, HG_SVM_DISTANCE } hg_svm_how;

#if defined(__AVX2__)
HG_INLINE __m256d svm_add(__m256d sum, __m256d x, __m256d v, const hg_svm_how how)
{
    if (how == HG_SVM_FUSED) return _mm256_fmadd_pd(x, v, sum);
    if (how == HG_SVM_PRODUCT) return _mm256_add_pd(sum, _mm256_mul_pd(x, v));
    const __m256d off = _mm256_sub_pd(x, v);
    return _mm256_add_pd(sum, _mm256_mul_pd(off, off));
}

/* HG_LANES support vectors against HG_SVM_ROWS rows. */
HG_INLINE void svm_tile(const double *x, const double *v, int64_t n, const hg_svm_how how,
                        double *to, int64_t ld)
{
    __m256d a0 = _mm256_setzero_pd(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    for (int64_t i = 0; i < n; i++, x += HG_SVM_ROWS, v += HG_LANES) {
        const __m256d low = _mm256_loadu_pd(v), high = _mm256_loadu_pd(v + HG_LANES / 2);
        const __m256d a = _mm256_broadcast_sd(x), b = _mm256_broadcast_sd(x + 1),
                      c = _mm256_broadcast_sd(x + 2), d = _mm256_broadcast_sd(x + 3);
        a0 = svm_add(a0, a, low, how);
        a1 = svm_add(a1, a, high, how);
        b0 = svm_add(b0, b, low, how);
        b1 = svm_add(b1, b, high, how);
        c0 = svm_add(c0, c, low, how);
        c1 = svm_add(c1, c, high, how);
        d0 = svm_add(d0, d, low, how);
        d1 = svm_add(d1, d, high, how);
    }
    const __m256d sum[HG_SVM_ROWS][2] = {{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}};
    for (int64_t r = 0; r < HG_SVM_ROWS; r++) {
        _mm256_storeu_pd(to + r * ld, sum[r][0]);
        _mm256_storeu_pd(to + r * ld + HG_LANES / 2, sum[r][1]);
    }
}

/* Sums over n features: feature i of row r is x[i * HG_SVM_ROWS + r], of vector k v[i * HG_LANES +
 * k]; theirs is to[r * ld + k]. */
static inline void hg_svm_tile(const double *x, const double *v, int64_t n, hg_svm_how how,
                               double *to, int64_t ld)
{
    if (how == HG_SVM_DISTANCE)
        svm_tile(x, v, n, HG_SVM_DISTANCE, to, ld);
    else if (how == HG_SVM_FUSED)
        svm_tile(x, v, n, HG_SVM_FUSED, to, ld);
    else
        svm_tile(x, v, n, HG_SVM_PRODUCT, to, ld);
}
#endif

/* hg_svm_tile of HG_SVM_WIDE support vectors. */
void hg_svm_tile_avx512(const double *x, const double *v, int64_t n, hg_svm_how how, double *to,
                        int64_t ld);

#endif
