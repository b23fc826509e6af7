/* conv_means.h - means of the output rows of a convolution: a second output that costs little while
 * the first is in cache.
 *
 *   out[0] Y [N, OH, OW, O] f32, OW at least 1
 *   out[1] M [N, OH, 1, O] f32: the sum over a row, from left to right, divided by OW */
#ifndef HG_KERNEL_CONV_MEANS_H
#define HG_KERNEL_CONV_MEANS_H

#include "isa/kernel.h"

static inline bool hg_conv_has_means(const hg_args *a)
{
    return a->n_out == 2;
}

/* After the convolution's own rules; fine without means. */
holo_status hg_conv_means_check(const hg_args *a, holo_error *e);
/* Of all channels of row `row` of out[0], counted through the images. */
void hg_conv_means_run(const hg_args *a, int64_t row);

#endif
