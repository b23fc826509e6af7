/* matmul_f64.h - tiles of the kernel "matmul.f64": a few rows by two vectors of columns (vec8.h,
 * vec16.h). Each sum is the same chain of operations at both widths. */
#ifndef HG_BACKEND_CPU_AVX2_MATMUL_F64_H
#define HG_BACKEND_CPU_AVX2_MATMUL_F64_H

#include "backend/cpu/avx2/gemm.h"

enum { HG_F64_ROWS = 4 };

typedef struct hg_f64_tile {
    const double *a, *b; /* first row; first row of the columns, which lie side by side */
    int64_t a_row, a_k;  /* steps of a */
    int64_t b_step, k;
    double *to;
    int64_t width; /* of a row of `to` */
    double alpha;  /* multiplies the result */
} hg_f64_tile;

#if defined(__AVX2__)
HG_INLINE void f64_tile(const int rows, const hg_f64_tile *t)
{
    __m256d sum[HG_F64_ROWS][2];
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = _mm256_setzero_pd();
    const double *a = t->a, *b = t->b;
    for (int64_t k = 0; k < t->k; k++, a += t->a_k, b += t->b_step) {
        const __m256d low = _mm256_loadu_pd(b), high = _mm256_loadu_pd(b + HG_LANES / 2);
        HG_GEMM_UNROLL
        for (int i = 0; i < rows; i++) {
            const __m256d x = _mm256_broadcast_sd(a + i * t->a_row);
            sum[i][0] = _mm256_fmadd_pd(x, low, sum[i][0]);
            sum[i][1] = _mm256_fmadd_pd(x, high, sum[i][1]);
        }
    }
    const __m256d alpha = _mm256_set1_pd(t->alpha);
    HG_GEMM_UNROLL
    for (int i = 0; i < rows; i++) {
        _mm256_storeu_pd(t->to + i * t->width, _mm256_mul_pd(sum[i][0], alpha));
        _mm256_storeu_pd(t->to + i * t->width + HG_LANES / 2, _mm256_mul_pd(sum[i][1], alpha));
    }
}

/* HG_F64_ROWS rows, or one. */
static inline void hg_f64_tile_run(const hg_f64_tile *t, int64_t rows)
{
    if (rows == HG_F64_ROWS)
        f64_tile(HG_F64_ROWS, t);
    else
        f64_tile(1, t);
}
#endif

/* hg_f64_tile_run with twice the columns. */
void hg_f64_tile_avx512(const hg_f64_tile *t, int64_t rows);

#endif
