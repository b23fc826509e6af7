/* conv_nhwc_i8.h - what every variant of "conv.nhwc.i8" shares. */
#ifndef HG_KERNEL_CONV_NHWC_I8_H
#define HG_KERNEL_CONV_NHWC_I8_H

#include "kernel/igemm.h"

holo_status hg_conv_nhwc_i8_check(const hg_args *a, holo_error *e);
/* Checked arguments only. */
hg_igemm hg_conv_nhwc_i8_of(const hg_args *a);
int64_t hg_conv_nhwc_i8_units(const hg_args *a);
void hg_conv_nhwc_i8_cost(const hg_args *a, hg_cost *cost);

#endif
