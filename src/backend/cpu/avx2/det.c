/* det.c - kernel "det" on AVX2: the reference loops, vectorised four wide; the same bits (two of
 * 64 x 64: 67 -> 20 us). */
#include "kernel/det.h"

#define NAME(stem) det_avx2_##stem
#include "kernel/det_run.inc"
#undef NAME

const hg_kernel hg_kernels_det_avx2[] = {
    {.name = "det",
     .cpu = HG_CPU_AVX2,
     .check = hg_det_check,
     .units = hg_det_units,
     .scratch = hg_det_scratch,
     .cost = hg_det_cost,
     .run = det_avx2_run},
    {0},
};
