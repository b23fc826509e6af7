/* softmax.c - kernel "softmax" on AVX2: the reference loops, vectorised eight wide; the same bits.
 */
#include "kernel/softmax.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#include "backend/cpu/vec8.h"

/* Compilers do not keep sixteen maxima in registers. Which zero is the largest does not matter: it
 * is only subtracted. */
static float softmax_avx2_max(const float *x, int64_t n)
{
    float best = -(float)HG_INFINITY, lane[8];
    __m256 a = _mm256_set1_ps(best), b = a;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        a = _mm256_max_ps(_mm256_loadu_ps(x + i), a); /* the second where the first is NaN */
        b = _mm256_max_ps(_mm256_loadu_ps(x + i + 8), b);
    }
    for (; i < n; i++)
        best = x[i] > best ? x[i] : best;
    _mm256_storeu_ps(lane, _mm256_max_ps(a, b));
    for (int l = 0; l < 8; l++)
        best = lane[l] > best ? lane[l] : best;
    return best;
}

#define SOFTMAX_OWN_MAX
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
