/* norm.h - what the reference and tuned variants of the kernels "layernorm" and "groupnorm" share.
 */
#ifndef HG_KERNEL_NORM_H
#define HG_KERNEL_NORM_H

#include "isa/kernel.h"

holo_status hg_kernel_layernorm_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_layernorm_units(const hg_args *a);
size_t hg_kernel_layernorm_scratch(const hg_args *a);
holo_status hg_kernel_groupnorm_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_groupnorm_units(const hg_args *a);
size_t hg_kernel_groupnorm_scratch(const hg_args *a);
/* Both. */
void hg_kernel_norm_cost(const hg_args *a, hg_cost *cost);

#endif
