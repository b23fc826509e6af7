/* conv_nhwc_i8.c - conv.nhwc.i8 with AVX-512 VNNI. */
#include "kernel/conv_nhwc_i8.h"

#include "backend/cpu/avx512/igemm.h"

static size_t conv_nhwc_i8_scratch(const hg_args *a)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    return hg_igemm_scratch(&g, &hg_igemm_avx512);
}

static void conv_nhwc_i8_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_conv_nhwc_i8_of(a);
    hg_igemm_run(&g, &hg_igemm_avx512, r);
}

const hg_kernel hg_kernels_conv_nhwc_i8_avx512[] = {
    {.name = "conv.nhwc.i8",
     .cpu = HG_CPU_AVX512,
     .check = hg_conv_nhwc_i8_check,
     .units = hg_conv_nhwc_i8_units,
     .scratch = conv_nhwc_i8_scratch,
     .cost = hg_conv_nhwc_i8_cost,
     .run = conv_nhwc_i8_run},
    {0},
};
