/* conv_dw.h - what every variant of "conv.dw" shares. */
#ifndef HG_KERNEL_CONV_DW_H
#define HG_KERNEL_CONV_DW_H

#include "kernel/conv.h"

holo_status hg_conv_dw_check(const hg_args *a, holo_error *e);
void hg_conv_dw_cost(const hg_args *a, hg_cost *cost);

#endif
