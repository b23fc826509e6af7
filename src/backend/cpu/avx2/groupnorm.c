/* groupnorm.c - kernel "groupnorm" on AVX2: the reference loops, vectorised eight wide; the same
 * bits. */
#include "kernel/norm.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#define NORM_READ hg_lane_read_avx2
#define NORM_WRITE hg_lane_write_avx2
#define T float
#define NAME(stem) groupnorm_avx2_##stem
#define SQRT hg_sqrt_f32
#include "kernel/groupnorm_run.inc"

static void groupnorm_run_avx2(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? hg_kernel_groupnorm_run : groupnorm_avx2_run)(a, r);
}

const hg_kernel hg_kernels_groupnorm_avx2[] = {
    {
        .name = "groupnorm",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_groupnorm_check,
        .units = hg_kernel_groupnorm_units,
        .scratch = hg_kernel_groupnorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = groupnorm_run_avx2,
    },
    {0},
};
