/* svm.c - kernels "svm.near.t" and "svm.sum" on AVX2: the loops of the reference on wider vectors;
 * the same bits.
 *
 * Of many rows four go together, and up to SVM_BLOCK of them use what is widened of a panel of
 * support vectors (100 rows x 90 vectors x 20 features: 8 instead of 25 us). */
#include "kernel/svm_near.h"

#include "backend/cpu/avx2/svm.h"

#if defined(__AVX2__)
enum { SVM_NARROW = 8, SVM_BLOCK = 64 };

/* Rows of a block, then vectors of a panel. */
static size_t svm_scratch(const hg_args *a)
{
    return (size_t)a->in[0].dim[1] * (SVM_BLOCK + HG_SVM_WIDE) * sizeof(double);
}

/* Feature i of row r from `first` on as x[i * HG_SVM_ROWS + r]. */
static void svm_widen(const holo_tensor *from, int64_t first, double *x)
{
    const int64_t n = from->dim[1];
    if (from->dtype == HOLO_F32) {
        const float *v = (const float *)from->data + first * n;
        for (int64_t i = 0; i < n; i++, v++)
            _mm256_storeu_pd(x + i * HG_SVM_ROWS,
                             _mm256_cvtps_pd(_mm_setr_ps(v[0], v[n], v[2 * n], v[3 * n])));
        return;
    }
    const double *v = (const double *)from->data + first * n;
    for (int64_t i = 0; i < n * HG_SVM_ROWS; i++)
        x[i] = v[i % HG_SVM_ROWS * n + i / HG_SVM_ROWS];
}

/* Vectors of a panel. */
static int64_t svm_width(const hg_args *a)
{
    return hg_has_avx512(a) && a->in[1].dim[1] >= HG_SVM_WIDE ? HG_SVM_WIDE : SVM_NARROW;
}

/* The panel of `width` vectors from `first` on, against a block of `rows`. */
static void svm_panel(const hg_args *a, int64_t first, int64_t width, const double *x, int64_t rows,
                      double *v, double *to)
{
    const int64_t n = a->in[0].dim[1], ld = a->in[1].dim[1];
    const float *from = (const float *)a->in[1].data + first;
    const hg_svm_how how = a->param[0] == HG_SVM_RBF    ? HG_SVM_DISTANCE
                           : a->in[0].dtype == HOLO_F32 ? HG_SVM_FUSED
                                                        : HG_SVM_PRODUCT;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width; k += 4)
            _mm256_storeu_pd(v + i * width + k, _mm256_cvtps_pd(_mm_loadu_ps(from + i * ld + k)));
    for (int64_t r = 0; r < rows; r += HG_SVM_ROWS) {
#if HG_HAS_AVX512
        if (width == HG_SVM_WIDE) {
            hg_svm_tile_avx512(x + r * n, v, n, how, to + r * ld + first, ld);
            continue;
        }
#endif
        hg_svm_tile(x + r * n, v, n, how, to + r * ld + first, ld);
    }
}

static void svm_run(const hg_args *a, hg_range r)
{
    const int64_t n = a->in[0].dim[1], vectors = a->in[1].dim[1], width = svm_width(a);
    double *x = r.scratch, *v = x + n * SVM_BLOCK;
    while (r.end - r.begin >= HG_SVM_ROWS && vectors >= width) {
        const int64_t rows = hg_min(r.end - r.begin, SVM_BLOCK) & -HG_SVM_ROWS;
        double *y = (double *)a->out[0].data + r.begin * vectors;
        for (int64_t i = 0; i < rows; i += HG_SVM_ROWS)
            svm_widen(&a->in[0], r.begin + i, x + i * n);
        /* the last vectors once more with some before them */
        for (int64_t k = 0; k < vectors; k += width)
            svm_panel(a, hg_min(k, vectors - width), width, x, rows, v, y);
        hg_svm_apply(a, y, rows * vectors);
        r.begin += rows;
    }
    hg_svm_near_rows(a, r);
}

/* Rows whose sums do not wait for each other; each as hg_svm_weigh adds it. */
static void svm_run_sum(const hg_args *a, hg_range r)
{
    const int64_t n = a->in[0].dim[1], whole = n & -4;
    const float *c = a->in[1].data;
    for (; r.end - r.begin >= HG_SVM_ROWS; r.begin += HG_SVM_ROWS) {
        const double *x = (const double *)a->in[0].data + r.begin * n;
        __m256d sum[HG_SVM_ROWS];
        for (int i = 0; i < HG_SVM_ROWS; i++)
            sum[i] = _mm256_setzero_pd();
        for (int64_t k = 0; k < whole; k += 4) {
            const __m256d by = _mm256_cvtps_pd(_mm_loadu_ps(c + k));
            for (int i = 0; i < HG_SVM_ROWS; i++)
                sum[i] = _mm256_add_pd(sum[i], _mm256_mul_pd(by, _mm256_loadu_pd(x + i * n + k)));
        }
        for (int64_t i = 0; i < HG_SVM_ROWS; i++) {
            double part[4];
            _mm256_storeu_pd(part, sum[i]);
            for (int64_t k = whole; k < n; k++)
                part[0] += (double)c[k] * x[i * n + k];
            ((double *)a->out[0].data)[r.begin + i] = (part[0] + part[1]) + (part[2] + part[3]);
        }
    }
    hg_svm_sum_rows(a, r);
}
#else
#define svm_scratch NULL

static void svm_run(const hg_args *a, hg_range r)
{
    hg_svm_near_rows(a, r);
}

static void svm_run_sum(const hg_args *a, hg_range r)
{
    hg_svm_sum_rows(a, r);
}
#endif

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
