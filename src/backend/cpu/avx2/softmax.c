/* softmax.c - kernel "softmax" on AVX2: the reference loops, vectorised eight wide; the same bits.
 * The fast one has the exponential of math8.h, within 1.3 units in the last place, adds while it
 * computes them and reads columns three times only. */
#include "kernel/softmax.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#include "backend/cpu/avx2/row8.h"

/* Compilers do not keep sixteen lanes in registers. */
static float softmax_avx2_max(const float *x, int64_t n)
{
    float best = -(float)HG_INFINITY;
    if (n >= 16) return row_max(x, n);
    for (int64_t i = 0; i < n; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

/* No exponential is -0: adding 0 to the lanes that the last turn does not reach changes nothing. */
static float softmax_avx2_sum(const float *x, int64_t n)
{
    __m256 a = _mm256_setzero_ps(), b = a;
    for (; n >= 16; n -= 16, x += 16) {
        a = _mm256_add_ps(a, _mm256_loadu_ps(x));
        b = _mm256_add_ps(b, _mm256_loadu_ps(x + 8));
    }
    if (n >= 8) {
        a = _mm256_add_ps(a, _mm256_loadu_ps(x));
        b = _mm256_add_ps(b, hg_part8_load(x + 8, n - 8));
    } else {
        a = _mm256_add_ps(a, hg_part8_load(x, n));
    }
    return row_sum_of((const __m256[]){a, b});
}

#define SOFTMAX_OWN_ROW
#define SOFTMAX_READ hg_lane_read_avx2
#define SOFTMAX_WRITE hg_lane_write_avx2
#define T float
#define NAME(stem) softmax_avx2_##stem
#define EXP hg_exp_negative_f32
#define LOG hg_log_f32
#include "kernel/softmax_run.inc"

static void softmax_run_avx2(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? hg_kernel_softmax_run : softmax_avx2_run)(a, r);
}

/* ---- fast: float32 without a mask ------------------------------------------------------------ */

HG_INLINE __m256 softmax_load(const float *x, const bool is_part, int64_t count)
{
    return is_part ? hg_part8_load(x, count) : _mm256_loadu_ps(x);
}

HG_INLINE void softmax_store(float *y, const bool is_part, int64_t count, __m256 v)
{
    if (is_part)
        hg_part8_store(y, count, v);
    else
        _mm256_storeu_ps(y, v);
}

/* At least sixteen values from number `at` on. */
static void softmax_fast_row(const hg_args *a, const hg_softmax *s, int64_t at)
{
    const float *x = (const float *)s->x->data + at;
    float *y = (float *)s->out + at;
#if HG_HAS_AVX512
    if (hg_has_avx512(a) && s->n >= 32) {
        hg_row_softmax_avx512(x, y, s->n, s->is_log);
        return;
    }
#endif
    (void)a;
    row_softmax(x, y, s->n, s->is_log);
}

/* What eight sums do to their columns: they are subtracted, as logarithms, or multiplied. */
static __m256 softmax_fast_by(__m256 sum, bool is_log)
{
    float of[8];
    if (!is_log) return _mm256_div_ps(_mm256_set1_ps(1), sum);
    _mm256_storeu_ps(of, sum);
    for (int64_t k = 0; k < 8; k++)
        of[k] = hg_log_f32(of[k]);
    return _mm256_loadu_ps(of);
}

/* Up to eight columns that lie side by side. */
static void softmax_fast_columns(const hg_softmax *s, int64_t count, const float *x, float *y)
{
    const bool is_part = count < 8;
    const int64_t step = s->inner, end = s->n * step;
    __m256 max = _mm256_set1_ps(-(float)HG_INFINITY), sum = _mm256_setzero_ps();
    for (int64_t i = 0; i < end; i += step) /* the second where the first is NaN */
        max = _mm256_max_ps(softmax_load(x + i, is_part, count), max);
    for (int64_t i = 0; i < end; i += step) {
        const __m256 low = _mm256_sub_ps(softmax_load(x + i, is_part, count), max);
        const __m256 e = hg_exp8(low);
        softmax_store(y + i, is_part, count, s->is_log ? low : e);
        sum = _mm256_add_ps(sum, e);
    }
    const __m256 by = softmax_fast_by(sum, s->is_log);
    for (int64_t i = 0; i < end; i += step) {
        const __m256 e = softmax_load(y + i, is_part, count);
        softmax_store(y + i, is_part, count,
                      s->is_log ? _mm256_sub_ps(e, by) : _mm256_mul_ps(e, by));
    }
}

enum { SOFTMAX_NARROW = 15 }; /* less than row_softmax takes */

/* Up to eight rows of at most SOFTMAX_NARROW values, turned: they are the columns of vectors. */
static void softmax_fast_narrow(const hg_softmax *s, int64_t row, int64_t rows)
{
    const int64_t n = s->n;
    float flat[8 * SOFTMAX_NARROW] = {0}, turned[SOFTMAX_NARROW][8];
    const float *x = (const float *)s->x->data + row * n;
    float *y = (float *)s->out + row * n;
    if (rows < 8) x = memcpy(flat, x, (size_t)(rows * n) * sizeof *x);
    __m256 max = _mm256_set1_ps(-(float)HG_INFINITY), sum = _mm256_setzero_ps();
    for (int64_t j = 0; j < n; j++) {
        const __m256 v = hg_vec8_every(x + j, n);
        max = _mm256_max_ps(v, max);
        _mm256_storeu_ps(turned[j], v);
    }
    for (int64_t j = 0; j < n; j++) {
        const __m256 low = _mm256_sub_ps(_mm256_loadu_ps(turned[j]), max), e = hg_exp8(low);
        sum = _mm256_add_ps(sum, e);
        _mm256_storeu_ps(turned[j], s->is_log ? low : e);
    }
    const __m256 by = softmax_fast_by(sum, s->is_log);
    for (int64_t j = 0; j < n; j++) {
        const __m256 v = _mm256_loadu_ps(turned[j]);
        _mm256_storeu_ps(turned[j], s->is_log ? _mm256_sub_ps(v, by) : _mm256_mul_ps(v, by));
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < rows; i++)
            y[i * n + j] = turned[j][i];
}

/* Columns [col, col + cols); which ones go together does not change their bits. */
static void softmax_fast_block(const hg_softmax *s, int64_t outer, int64_t col, int64_t cols)
{
    const int64_t first = outer * s->n * s->inner + col;
    for (int64_t j = 0; j < cols; j += 8)
        softmax_fast_columns(s, cols - j, (const float *)s->x->data + first + j,
                             (float *)s->out + first + j);
}

static void softmax_run_fast(const hg_args *a, hg_range r)
{
    const hg_softmax *s = hg_softmax_init(a, r.scratch);
    const bool is_row = s->inner == 1, is_narrow = is_row && s->n <= SOFTMAX_NARROW;
    if (s->dtype != HOLO_F32 || s->mask != NULL) {
        softmax_run_avx2(a, r);
        return;
    }
    for (int64_t u = r.begin, step; u < r.end; u += step) {
        const int64_t outer = u / s->inner, col = u % s->inner;
        step = hg_min(is_narrow ? 8 : s->inner - col, r.end - u);
        if (is_narrow)
            softmax_fast_narrow(s, u, step);
        else if (is_row)
            softmax_fast_row(a, s, u * s->n);
        else
            softmax_fast_block(s, outer, col, step);
    }
}

const hg_kernel hg_kernels_softmax_avx2[] = {
    {
        .name = "softmax",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_softmax_check,
        .units = hg_kernel_softmax_units,
        .scratch = hg_kernel_softmax_scratch,
        .cost = hg_kernel_softmax_cost,
        .run = softmax_run_avx2,
    },
    {
        .name = "softmax",
        .flags = HG_KERNEL_INPLACE | HG_KERNEL_FAST,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_softmax_check,
        .units = hg_kernel_softmax_units,
        .scratch = hg_kernel_softmax_scratch,
        .cost = hg_kernel_softmax_cost,
        .run = softmax_run_fast,
    },
    {0},
};
