/* reduce.c - kernel "reduce" on AVX2: the reference loops on f32, vectorised eight wide; the same
 * bits. */
#include "kernel/reduce.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#define T float
#define U float
#define NAME(stem) reduce_avx2_##stem
#define ABS(x) hg_abs_f32(x)
#define REDUCE_EXP(x) hg_exp_f32(x)
#include "kernel/reduce_steps.inc"

static hg_reduce_step reduce_step_avx2(hg_reduce_op op, hg_lane_type domain)
{
    return domain == HG_LANE_F32 ? reduce_avx2_step(op) : hg_reduce_step_reference(op, domain);
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
