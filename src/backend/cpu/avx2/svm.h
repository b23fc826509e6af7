/* svm.h - tiles of the kernel "svm.near.t": a few rows against a panel of support vectors. */
#ifndef HG_BACKEND_CPU_AVX2_SVM_H
#define HG_BACKEND_CPU_AVX2_SVM_H

#include "base/base.h"

enum {
    HG_SVM_ROWS = 4,
    HG_SVM_WIDE = 16 /* vectors of a panel with AVX-512 */
};

/* How a term is added. The product of two float32 is exact in float64: fused with its addition it
 * gives the same bits. */
typedef enum hg_svm_how { HG_SVM_FUSED, HG_SVM_PRODUCT, HG_SVM_DISTANCE } hg_svm_how;

/* Sums over n features: feature i of row r is x[i * HG_SVM_ROWS + r], of vector k
 * v[i * HG_SVM_WIDE + k]; theirs is to[r * ld + k]. */
void hg_svm_tile_avx512(const double *x, const double *v, int64_t n, hg_svm_how how, double *to,
                        int64_t ld);

#endif
