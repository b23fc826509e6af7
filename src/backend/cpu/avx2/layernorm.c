/* layernorm.c - kernel "layernorm" on AVX2: the reference loops, vectorised eight wide; the same
 * bits. */
#include "kernel/norm.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#define NORM_READ hg_lane_read_avx2
#define NORM_WRITE hg_lane_write_avx2
#define T float
#define NAME(stem) layernorm_avx2_##stem
#define SQRT hg_sqrt_f32
#include "kernel/layernorm_run.inc"

static void layernorm_run_avx2(const hg_args *a, hg_range r)
{
    (hg_dtype_is(a->in[0].dtype, HOLO_F64) ? hg_kernel_layernorm_run : layernorm_avx2_run)(a, r);
}

const hg_kernel hg_kernels_layernorm_avx2[] = {
    {
        .name = "layernorm",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_layernorm_check,
        .units = hg_kernel_layernorm_units,
        .scratch = hg_kernel_layernorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = layernorm_run_avx2,
    },
    {0},
};
