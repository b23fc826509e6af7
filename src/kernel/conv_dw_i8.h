/* conv_dw_i8.h - what every variant of "conv.dw.i8" shares. */
#ifndef HG_KERNEL_CONV_DW_I8_H
#define HG_KERNEL_CONV_DW_I8_H

#include "kernel/conv.h"
#include "kernel/igemm.h"

holo_status hg_conv_dw_i8_check(const hg_args *a, holo_error *e);
void hg_conv_dw_i8_cost(const hg_args *a, hg_cost *cost);
/* Output rows; checked arguments only. */
int64_t hg_conv_dw_i8_units(const hg_args *a);

#endif
