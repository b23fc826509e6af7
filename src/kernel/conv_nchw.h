/* conv_nchw.h - what every variant of "conv.nchw" shares. */
#ifndef HG_KERNEL_CONV_NCHW_H
#define HG_KERNEL_CONV_NCHW_H

#include "kernel/conv.h"

enum { HG_CONV_NCHW_FIRST_EXTRA = 2 }; /* operand of the epilogue */

/* Checked arguments only. */
HG_INLINE hg_conv2d hg_conv_nchw_of(const hg_args *a)
{
    hg_conv2d g = hg_conv2d_of(a);
    g.c = a->in[0].dim[1];
    g.h = a->in[0].dim[2];
    g.w = a->in[0].dim[3];
    return g;
}

holo_status hg_conv_nchw_check(const hg_args *a, holo_error *e);
void hg_conv_nchw_cost(const hg_args *a, hg_cost *cost);

#endif
