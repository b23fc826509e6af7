/* softmax.c - kernel "softmax" on AVX2: the reference loops, vectorised eight wide; the same bits.
 */
#include "kernel/softmax.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#include "backend/cpu/avx2/part8.h"
#include "backend/cpu/vec8.h"

/* Compilers do not keep sixteen lanes in registers. Which zero is the largest does not matter: it
 * is only subtracted. The last few come once more with those before them. */
static float softmax_avx2_max(const float *x, int64_t n)
{
    float best = -(float)HG_INFINITY;
    __m256 a = _mm256_set1_ps(best), b = a;
    if (n < 16) {
        for (int64_t i = 0; i < n; i++)
            best = x[i] > best ? x[i] : best;
        return best;
    }
    for (int64_t i = 0; i < n; i += 16) {
        const float *at = x + hg_min(i, n - 16);
        a = _mm256_max_ps(_mm256_loadu_ps(at), a); /* the second where the first is NaN */
        b = _mm256_max_ps(_mm256_loadu_ps(at + 8), b);
    }
    a = _mm256_max_ps(a, b);
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ps(m, _mm_movehdup_ps(m)));
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
    a = _mm256_add_ps(a, b);
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ps(s, _mm_movehdup_ps(s)));
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
    {0},
};
