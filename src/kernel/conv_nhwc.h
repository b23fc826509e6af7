/* conv_nhwc.h - what every variant of "conv.nhwc" shares. */
#ifndef HG_KERNEL_CONV_NHWC_H
#define HG_KERNEL_CONV_NHWC_H

#include "kernel/conv.h"

/* The third spatial axis, the first of a tensor: planes of pictures. Kernels that are one plane
 * deep and meet every one in turn see pictures of their own instead. */
typedef struct hg_conv_planes {
    int64_t in, out, kernel, stride, pad, dil;
} hg_conv_planes;

typedef struct hg_conv_nhwc_shape {
    hg_conv2d g;
    hg_conv_planes z;
    int64_t pictures;                 /* of the output: g.n * z.out */
    int64_t groups, group_c, group_o; /* channels of one group */
    int64_t taps, k;                  /* k = taps * group_c; 0 when there are no channels */
    int64_t panels;                   /* of one group */
} hg_conv_nhwc_shape;

/* Where plane `tap` of the kernel meets the input for a picture of the output, numbered through all
 * of the input; -1 in the padding. */
static inline int64_t hg_conv_nhwc_plane(const hg_conv_nhwc_shape *s, int64_t picture, int64_t tap)
{
    const int64_t z = picture % s->z.out * s->z.stride + tap * s->z.dil - s->z.pad;
    return z < 0 || z >= s->z.in ? -1 : picture / s->z.out * s->z.in + z;
}

/* Checked arguments only. */
hg_conv_nhwc_shape hg_conv_nhwc_shape_of(const hg_args *a);
holo_status hg_conv_nhwc_check(const hg_args *a, holo_error *e);
void hg_conv_nhwc_cost(const hg_args *a, hg_cost *cost);
/* The reference kernel. */
int64_t hg_conv_nhwc_units(const hg_args *a);
size_t hg_conv_nhwc_scratch(const hg_args *a);
void hg_conv_nhwc_run(const hg_args *a, hg_range r);

#endif
