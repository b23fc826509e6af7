/* conv.h - geometry of 2-D convolutions over NHWC tensors: what conv.nhwc and conv.dw share. */
#ifndef HG_KERNEL_CONV_H
#define HG_KERNEL_CONV_H

#include "isa/kernel.h"

/* Output pixel (y, x) and tap (i, j) read input pixel
 * (y * stride_h + i * dil_h - pad_top, x * stride_w + j * dil_w - pad_left), or zero outside. */
typedef struct hg_conv2d {
    int64_t n, h, w, c;
    int64_t oh, ow, o;
    int64_t kh, kw, stride_h, stride_w, pad_top, pad_left, dil_h, dil_w;
} hg_conv2d;

/* in[0] is f32 [n, h, w, c] and out[0] [n, oh, ow, o]; param 0..7 are kernel, stride, padding and
 * dilation. No coordinate above can overflow. */
holo_status hg_conv2d_check(const hg_args *a, holo_error *e);
/* Checked arguments only. */
hg_conv2d hg_conv2d_of(const hg_args *a);

/* "convtranspose", any number of spatial dims. */
holo_status hg_convtranspose_check(const hg_args *a, holo_error *e);
void hg_convtranspose_cost(const hg_args *a, hg_cost *cost);

/* First and one past the last output position along one axis for which tap k lies inside the input.
 */
static inline void hg_conv_inside(int64_t in, int64_t out, int64_t stride, int64_t pad,
                                  int64_t shift, int64_t *begin, int64_t *end)
{
    const int64_t low = hg_max(0, hg_ceil_div(pad - shift, stride));
    const int64_t high = hg_min(out, hg_floor_div(in - 1 + pad - shift, stride) + 1);
    *begin = hg_min(low, out);
    *end = hg_max(*begin, high);
}

#endif
