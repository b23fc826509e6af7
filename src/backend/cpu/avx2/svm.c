/* svm.c - kernel "svm.near.t" on AVX2: the loops of the reference on wider vectors; the same bits.
 */
#include "kernel/svm_near.h"

#include "backend/cpu/vec8.h"

static void svm_run(const hg_args *a, hg_range r)
{
    hg_svm_near_rows(a, r);
}

const hg_kernel hg_kernels_svm_avx2[] = {
    {.name = "svm.near.t",
     .cpu = HG_CPU_AVX2,
     .check = hg_svm_near_check,
     .units = hg_svm_near_units,
     .cost = hg_svm_near_cost,
     .run = svm_run},
    {0},
};
