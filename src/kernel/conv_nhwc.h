/* conv_nhwc.h - what every variant of "conv.nhwc" shares. */
#ifndef HG_KERNEL_CONV_NHWC_H
#define HG_KERNEL_CONV_NHWC_H

#include "kernel/conv.h"

enum { HG_CONV_MAPS = 16 }; /* that lie side by side, at most */

typedef struct hg_conv_nhwc_shape {
    hg_conv2d g; /* c: channels of all maps */
    int64_t maps;
    hg_conv_planes z;                 /* kernels that are one plane deep and meet every one in turn
                                         see pictures of their own instead */
    int64_t pictures;                 /* of the output: g.n * z.out */
    int64_t groups, group_c, group_o; /* channels of one group */
    int64_t taps, k;                  /* k = taps * group_c; 0 when there are no channels */
    int64_t panels;                   /* of one group */
} hg_conv_nhwc_shape;

/* Checked arguments only. */
void hg_conv_nhwc_shape_of(const hg_args *a, hg_conv_nhwc_shape *s);
holo_status hg_conv_nhwc_check(const hg_args *a, holo_error *e);
void hg_conv_nhwc_cost(const hg_args *a, hg_cost *cost);
/* Map i of those that lie side by side. */
static inline const holo_tensor *hg_conv_nhwc_map(const hg_args *a, int64_t i)
{
    return &a->in[i == 0 ? 0 : i + 1];
}
/* The first operand of the epilogue. */
static inline uint32_t hg_conv_nhwc_extra(const hg_args *a)
{
    const uint32_t fixed = 4 * ((uint32_t)a->in[0].rank - 2) + 1;
    return a->n_param == fixed ? 2 : 1 + (uint32_t)a->param[fixed];
}
/* The reference kernel. */
int64_t hg_conv_nhwc_units(const hg_args *a);
size_t hg_conv_nhwc_scratch(const hg_args *a);
void hg_conv_nhwc_run(const hg_args *a, hg_range r);

#endif
