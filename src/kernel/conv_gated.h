/* conv_gated.h - what every variant of "conv.gated" shares. */
#ifndef HG_KERNEL_CONV_GATED_H
#define HG_KERNEL_CONV_GATED_H

#include "isa/kernel.h"

enum { HG_CONV_GATED_FIRST_EXTRA = 3 };

typedef struct hg_conv_gated_shape {
    int64_t n, pixels, c, o, panels; /* pixels of one image */
    int64_t gate_step;               /* floats from image to image: C, or 0 for one gate */
} hg_conv_gated_shape;

/* Checked arguments with a result that is not empty. */
hg_conv_gated_shape hg_conv_gated_shape_of(const hg_args *a);
holo_status hg_conv_gated_check(const hg_args *a, holo_error *e);
void hg_conv_gated_cost(const hg_args *a, hg_cost *cost);

#endif
