/* cpu.c - every kernel for the CPU: reference ones and the tuned variants this build has. Which
 * variant of a name runs is decided when a model is opened, by the features of the CPU at hand. */
#include "isa/kernel.h"

#define X(stem) extern const hg_kernel hg_kernels_##stem[];
#include "kernel_list.inc"
#undef X
#define X(stem) extern const hg_kernel hg_kernels_##stem##_avx2[];
#include "kernel_avx2_list.inc"
#undef X
#define X(stem) extern const hg_kernel hg_kernels_##stem##_avx512[];
#include "kernel_avx512_list.inc"
#undef X
#define X(stem) extern const hg_kernel hg_kernels_##stem##_neon[];
#include "kernel_neon_list.inc"
#undef X
#define X(stem) extern const hg_kernel hg_kernels_##stem##_dotprod[];
#include "kernel_dotprod_list.inc"
#undef X
#define X(stem) extern const hg_kernel hg_kernels_##stem##_wasm[];
#include "kernel_wasm_list.inc"
#undef X

static const hg_kernel *const cpu_list[] = {
#define X(stem) hg_kernels_##stem,
#include "kernel_list.inc"
#undef X
#define X(stem) hg_kernels_##stem##_avx2,
#include "kernel_avx2_list.inc"
#undef X
#define X(stem) hg_kernels_##stem##_avx512,
#include "kernel_avx512_list.inc"
#undef X
#define X(stem) hg_kernels_##stem##_neon,
#include "kernel_neon_list.inc"
#undef X
#define X(stem) hg_kernels_##stem##_dotprod,
#include "kernel_dotprod_list.inc"
#undef X
#define X(stem) hg_kernels_##stem##_wasm,
#include "kernel_wasm_list.inc"
#undef X
};

static const holo_kernels cpu_kernels = {
    .struct_size = sizeof(holo_kernels), .list = cpu_list, .count = HG_COUNT(cpu_list)};

const holo_kernels *holo_kernels_all(void)
{
    return &cpu_kernels;
}
