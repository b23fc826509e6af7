/* matmul_p16i16.c - matmul.p16i16 with AVX2. */
#include "kernel/matmul_p16i16.h"

#include "backend/cpu/avx2/igemm.h"
#include "backend/cpu/avx2/igemm_wide.h"
#include "backend/cpu/avx2/lane.h"

static const hg_igemm_form matmul_p16i16_form = {.tile = hg_igemm_wide_avx2,
                                                 .meet = hg_igemm_meet_avx2,
                                                 .lane = hg_lane_run_avx2,
                                                 .finish = hg_igemm_finish_avx2,
                                                 .widens_panel = true};

static size_t matmul_p16i16_scratch(const hg_args *a)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    return hg_igemm_scratch(&g, &matmul_p16i16_form);
}

static void matmul_p16i16_run(const hg_args *a, hg_range r)
{
    const hg_igemm g = hg_matmul_p16i16_of(a);
    hg_igemm_run(&g, &matmul_p16i16_form, r);
}

const hg_kernel hg_kernels_matmul_p16i16_avx2[] = {
    {.name = "matmul.p16i16",
     .cpu = HG_CPU_AVX2,
     .check = hg_matmul_p16i16_check,
     .units = hg_matmul_p16i16_units,
     .scratch = matmul_p16i16_scratch,
     .cost = hg_matmul_p16i16_cost,
     .run = matmul_p16i16_run},
    {0},
};
