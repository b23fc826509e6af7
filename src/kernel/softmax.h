/* softmax.h - what the reference and tuned variants of the kernel "softmax" share. */
#ifndef HG_KERNEL_SOFTMAX_H
#define HG_KERNEL_SOFTMAX_H

#include "isa/kernel.h"

holo_status hg_kernel_softmax_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_softmax_units(const hg_args *a);
size_t hg_kernel_softmax_scratch(const hg_args *a);
void hg_kernel_softmax_cost(const hg_args *a, hg_cost *cost);

#endif
