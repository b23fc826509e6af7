/* ext.c - the table of kernels that need other libraries, made from the folder's listing. */
#include "isa/kernel.h"

#define X(stem) extern const hg_kernel hg_kernels_##stem[];
#include "kernel_ext_list.inc"
#undef X

static const hg_kernel *const ext_list[] = {
#define X(stem) hg_kernels_##stem,
#include "kernel_ext_list.inc"
#undef X
};

static const holo_kernels ext_kernels = {
    .struct_size = sizeof(holo_kernels), .list = ext_list, .count = HG_COUNT(ext_list)};

const holo_kernels *holo_kernels_ext(void)
{
    return &ext_kernels;
}
