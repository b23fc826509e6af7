/* norm.c - kernels "layernorm" and "groupnorm" on AVX2: the reference loops, vectorised eight wide;
 * the same bits. */
#include "kernel/norm.h"

#include "backend/cpu/avx2/lane.h"
#include "isa/lane_math.h"

#define NORM_READ hg_lane_read_avx2
#define NORM_WRITE hg_lane_write_avx2
#define T float
#define NAME(stem) norm_avx2_##stem
#define SQRT hg_sqrt_f32
#include "kernel/norm_run.inc"

static void norm_layer_avx2(const hg_args *a, hg_range r)
{
    (a->in[0].dtype == HOLO_F64 ? hg_kernel_layernorm_run : norm_avx2_layer_run)(a, r);
}

static void norm_group_avx2(const hg_args *a, hg_range r)
{
    (a->in[0].dtype == HOLO_F64 ? hg_kernel_groupnorm_run : norm_avx2_group_run)(a, r);
}

const hg_kernel hg_kernels_norm_avx2[] = {
    {
        .name = "layernorm",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_layernorm_check,
        .units = hg_kernel_layernorm_units,
        .scratch = hg_kernel_layernorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = norm_layer_avx2,
    },
    {
        .name = "groupnorm",
        .flags = HG_KERNEL_INPLACE,
        .cpu = HG_CPU_AVX2,
        .check = hg_kernel_groupnorm_check,
        .units = hg_kernel_groupnorm_units,
        .scratch = hg_kernel_groupnorm_scratch,
        .cost = hg_kernel_norm_cost,
        .run = norm_group_avx2,
    },
    {0},
};
