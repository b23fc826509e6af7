/* kernels.c - the table of reference kernels. */
#include "kernel/kernels.h"

#define X(stem) extern const hg_kernel hg_kernels_##stem[];
#include "kernel_list.inc"
#undef X

static const hg_kernel *const kernels_list[] = {
#define X(stem) hg_kernels_##stem,
#include "kernel_list.inc"
#undef X
};

static const holo_kernels kernels_table = {
    .struct_size = sizeof(holo_kernels), .list = kernels_list, .count = HG_COUNT(kernels_list)};

const holo_kernels *hg_kernels_reference(void)
{
    return &kernels_table;
}

const hg_kernel *hg_kernel_find(const char *name)
{
    for (size_t i = 0; i < HG_COUNT(kernels_list); i++)
        for (const hg_kernel *k = kernels_list[i]; k->name != NULL; k++)
            if (strcmp(k->name, name) == 0) return k;
    return NULL;
}
