/* reduce.c - kernel "reduce" on AVX2: the reference loops on f32, vectorised eight wide; the same
 * bits. */
#include "kernel/reduce.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#include "backend/cpu/vec8.h"

#define T float
#define U float
#define NAME(stem) reduce_avx2_##stem
#define ABS(x) hg_abs_f32(x)
#define REDUCE_EXP(x) hg_exp_f32(x)
#include "kernel/reduce_steps.inc"

/* One column: a != a || a > b ? a : b in sixteen lanes, which compilers do not keep in registers.
 */
#define REDUCE_EXTREME(stem, vector)                                                               \
    static void reduce_avx2_##stem##_16(void *HG_RESTRICT d_, const void *HG_RESTRICT x_,          \
                                        const void *HG_RESTRICT shift, int64_t width,              \
                                        int64_t count)                                             \
    {                                                                                              \
        float *d = d_;                                                                             \
        const float *x = x_;                                                                       \
        if (width != 16) {                                                                         \
            reduce_avx2_##stem(d_, x_, shift, width, count);                                       \
            return;                                                                                \
        }                                                                                          \
        __m256 a = _mm256_loadu_ps(d), b = _mm256_loadu_ps(d + 8);                                 \
        for (int64_t i = 0; i < count; i++, x += 16) {                                             \
            __m256 ma = vector(a, _mm256_loadu_ps(x)), mb = vector(b, _mm256_loadu_ps(x + 8));     \
            a = _mm256_blendv_ps(ma, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));                        \
            b = _mm256_blendv_ps(mb, b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));                        \
        }                                                                                          \
        _mm256_storeu_ps(d, a);                                                                    \
        _mm256_storeu_ps(d + 8, b);                                                                \
    }
REDUCE_EXTREME(max, _mm256_max_ps)
REDUCE_EXTREME(min, _mm256_min_ps)
#undef REDUCE_EXTREME

static hg_reduce_step reduce_step_avx2(hg_reduce_op op, hg_lane_type domain)
{
    const bool has_others = (HG_TYPES_LINKED & ~HG_TYPE_BIT(HOLO_F32)) != 0;
    if (domain != HG_LANE_F32 && has_others) return hg_reduce_step_reference(op, domain);
    hg_reduce_step step = reduce_avx2_step(op);
    if (step.enter == reduce_avx2_max) step.enter = reduce_avx2_max_16;
    if (step.enter == reduce_avx2_min) step.enter = reduce_avx2_min_16;
    return step;
}

static void reduce_run_avx2(const hg_args *a, hg_range r)
{
    static const hg_reduce_loops loops = {reduce_step_avx2, hg_lane_read_avx2, hg_lane_write_avx2,
                                          hg_lane_run_avx2};
    hg_kernel_reduce_run(a, r, &loops);
}

const hg_kernel hg_kernels_reduce_avx2[] = {
    {
        .name = "reduce",
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_reduce_check,
        .units = hg_kernel_reduce_units,
        .scratch = hg_kernel_reduce_scratch,
        .cost = hg_kernel_reduce_cost,
        .run = reduce_run_avx2,
    },
    {0},
};
