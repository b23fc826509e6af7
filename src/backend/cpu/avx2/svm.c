/* svm.c - kernels "svm.near.t" and "svm.sum" on AVX2: the loops of the reference on wider vectors;
 * the same bits.
 *
 * Of many rows four go together: what is loaded and widened of eight support vectors serves all of
 * them (100 rows x 90 vectors x 20 features: 8 instead of 25 us). */
#include "kernel/svm_near.h"

#include "backend/cpu/vec8.h"

#if defined(__AVX2__)
enum { SVM_ROWS = 4, SVM_VECTORS = 8 };

static size_t svm_scratch(const hg_args *a)
{
    return (size_t)a->in[0].dim[1] * SVM_ROWS * sizeof(double);
}

/* Feature i of row r from `first` on as x[i * SVM_ROWS + r]. */
static void svm_widen(const holo_tensor *from, int64_t first, double *x)
{
    const int64_t n = from->dim[1];
    for (int64_t r = 0; r < SVM_ROWS; r++)
        for (int64_t i = 0; i < n; i++)
            x[i * SVM_ROWS + r] = from->dtype == HOLO_F32
                                      ? (double)((const float *)from->data)[(first + r) * n + i]
                                      : ((const double *)from->data)[(first + r) * n + i];
}

/* How a term is added. The product of two float32 is exact in float64: fused with its addition it
 * gives the same bits. */
typedef enum svm_kind { SVM_FUSED, SVM_PRODUCT, SVM_DISTANCE } svm_kind;

HG_INLINE __m256d svm_add(__m256d sum, __m256d x, __m256d v, const svm_kind kind)
{
    if (kind == SVM_FUSED) return _mm256_fmadd_pd(x, v, sum);
    if (kind == SVM_PRODUCT) return _mm256_add_pd(sum, _mm256_mul_pd(x, v));
    const __m256d off = _mm256_sub_pd(x, v);
    return _mm256_add_pd(sum, _mm256_mul_pd(off, off));
}

/* SVM_VECTORS vectors, neighbours in rows of ld, against SVM_ROWS rows. */
HG_INLINE void svm_tile(const double *x, const float *v, int64_t n, int64_t ld, const svm_kind kind,
                        double *to)
{
    __m256d a0 = _mm256_setzero_pd(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    for (int64_t i = 0; i < n; i++, x += SVM_ROWS, v += ld) {
        const __m256d low = _mm256_cvtps_pd(_mm_loadu_ps(v)),
                      high = _mm256_cvtps_pd(_mm_loadu_ps(v + 4));
        const __m256d a = _mm256_broadcast_sd(x), b = _mm256_broadcast_sd(x + 1),
                      c = _mm256_broadcast_sd(x + 2), d = _mm256_broadcast_sd(x + 3);
        a0 = svm_add(a0, a, low, kind);
        a1 = svm_add(a1, a, high, kind);
        b0 = svm_add(b0, b, low, kind);
        b1 = svm_add(b1, b, high, kind);
        c0 = svm_add(c0, c, low, kind);
        c1 = svm_add(c1, c, high, kind);
        d0 = svm_add(d0, d, low, kind);
        d1 = svm_add(d1, d, high, kind);
    }
    const __m256d sum[SVM_ROWS][2] = {{a0, a1}, {b0, b1}, {c0, c1}, {d0, d1}};
    for (int64_t r = 0; r < SVM_ROWS; r++) {
        _mm256_storeu_pd(to + r * ld, sum[r][0]);
        _mm256_storeu_pd(to + r * ld + 4, sum[r][1]);
    }
}

/* All vectors; the last ones once more with some before them. */
static void svm_rows(const double *x, const float *v, int64_t n, int64_t vectors, svm_kind kind,
                     double *to)
{
    for (int64_t k = 0; k < vectors; k += SVM_VECTORS) {
        const int64_t at = hg_min(k, vectors - SVM_VECTORS);
        if (kind == SVM_DISTANCE)
            svm_tile(x, v + at, n, vectors, SVM_DISTANCE, to + at);
        else if (kind == SVM_FUSED)
            svm_tile(x, v + at, n, vectors, SVM_FUSED, to + at);
        else
            svm_tile(x, v + at, n, vectors, SVM_PRODUCT, to + at);
    }
}

static void svm_run(const hg_args *a, hg_range r)
{
    const int64_t vectors = a->in[1].dim[1];
    const svm_kind kind = a->param[0] == HG_SVM_RBF    ? SVM_DISTANCE
                          : a->in[0].dtype == HOLO_F32 ? SVM_FUSED
                                                       : SVM_PRODUCT;
    for (; r.end - r.begin >= SVM_ROWS && vectors >= SVM_VECTORS; r.begin += SVM_ROWS) {
        double *y = (double *)a->out[0].data + r.begin * vectors;
        svm_widen(&a->in[0], r.begin, r.scratch);
        svm_rows(r.scratch, a->in[1].data, a->in[0].dim[1], vectors, kind, y);
        hg_svm_apply(a, y, SVM_ROWS * vectors);
    }
    hg_svm_near_rows(a, r);
}
#else
#define svm_scratch NULL

static void svm_run(const hg_args *a, hg_range r)
{
    hg_svm_near_rows(a, r);
}
#endif

static void svm_run_sum(const hg_args *a, hg_range r)
{
    hg_svm_sum_rows(a, r);
}

const hg_kernel hg_kernels_svm_avx2[] = {
    {.name = "svm.near.t",
     .cpu = HG_CPU_AVX2,
     .check = hg_svm_near_check,
     .units = hg_svm_near_units,
     .scratch = svm_scratch,
     .cost = hg_svm_near_cost,
     .run = svm_run},
    {.name = "svm.sum",
     .cpu = HG_CPU_AVX2,
     .check = hg_svm_sum_check,
     .units = hg_svm_near_units,
     .run = svm_run_sum},
    {0},
};
