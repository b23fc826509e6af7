/* conv_winograd.c - conv.winograd: conv.nhwc under a second name. The compiler gives it to
 * convolutions whose shape suits Winograd's algorithm, so that only programs with such steps link
 * the tuned kernel; operands, parameters and the reference code are those of conv.nhwc. */
#include "kernel/conv_nhwc.h"

const hg_kernel hg_kernels_conv_winograd[] = {
    {.name = "conv.winograd",
     .check = hg_conv_nhwc_check,
     .units = hg_conv_nhwc_units,
     .scratch = hg_conv_nhwc_scratch,
     .cost = hg_conv_nhwc_cost,
     .run = hg_conv_nhwc_run},
    {0},
};
