/* topk.h - kernel "topk", for variants that walk rows in another way. */
#ifndef HG_KERNEL_TOPK_H
#define HG_KERNEL_TOPK_H

#include "isa/kernel.h"

holo_status hg_topk_check(const hg_args *a, holo_error *e);
/* The rest: checked arguments only. */
int64_t hg_topk_units(const hg_args *a);
size_t hg_topk_scratch(const hg_args *a);
void hg_topk_run(const hg_args *a, hg_range r);

#endif
