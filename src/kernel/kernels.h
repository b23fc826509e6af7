/* kernels.h - the table of reference kernels, made from the folder's listing. */
#ifndef HG_KERNEL_KERNELS_H
#define HG_KERNEL_KERNELS_H

#include "isa/kernel.h"

/* Portable kernels only: what the compiler evaluates constants with. */
const holo_kernels *hg_kernels_reference(void);
/* NULL when there is none of that name. */
const hg_kernel *hg_kernel_find(const char *name);

#endif
