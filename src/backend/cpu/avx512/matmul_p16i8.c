/* matmul_p16i8.c - matmul.p16i8 with AVX-512 VNNI. */
#include "kernel/matmul_p16i8.h"

#include "backend/cpu/avx512/igemm.h"

static size_t matmul_p16i8_scratch(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    return hg_igemm_scratch(&g, &hg_igemm_avx512);
}

static void matmul_p16i8_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_matmul_p16i8_of(a);
    hg_igemm_run(&g, &hg_igemm_avx512, r);
}

const hg_kernel hg_kernels_matmul_p16i8_avx512[] = {
    {.name = "matmul.p16i8",
     .cpu = HG_CPU_AVX512,
     .check = hg_matmul_p16i8_check,
     .units = hg_matmul_p16i8_units,
     .scratch = matmul_p16i8_scratch,
     .cost = hg_matmul_p16i8_cost,
     .run = matmul_p16i8_run},
    {0},
};
