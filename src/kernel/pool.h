/* pool.h - parameters of the kernel "pool", and what its variants share. */
#ifndef HG_KERNEL_POOL_H
#define HG_KERNEL_POOL_H

#include "isa/kernel.h"

typedef enum hg_pool_mode {
    HG_POOL_MAX = 0,
    HG_POOL_AVERAGE = 1,        /* divides by the elements inside the input */
    HG_POOL_AVERAGE_PADDED = 2, /* padding counts */
    HG_POOL_LP = 3              /* (sum |x|^p)^(1/p) */
} hg_pool_mode;

typedef enum hg_pool_layout { HG_POOL_NCHW = 0, HG_POOL_NHWC = 1 } hg_pool_layout;

/* Places of the parameters; five lists of n_spatial follow: kernel, stride, pad_begin, pad_end,
 * dilation. */
enum {
    HG_POOL_PARAM_MODE,
    HG_POOL_PARAM_LAYOUT,
    HG_POOL_PARAM_SPATIAL,
    HG_POOL_PARAM_P,
    HG_POOL_PARAM_ORDER, /* 1: indices count the first spatial axis fastest */
    HG_POOL_PARAM_LISTS
};

/* X seen as [outer, spatial..., inner]: inner is 1 or the channels. */
typedef struct hg_pool_shape {
    const int64_t *in, *out, *kernel, *stride, *pad_begin, *pad_end, *dilation;
    int rank;
    int64_t inner, in_count, rows, width;
    hg_pool_mode mode;
} hg_pool_shape;

holo_status hg_kernel_pool_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_pool_units(const hg_args *a);
void hg_kernel_pool_cost(const hg_args *a, hg_cost *cost);
hg_pool_shape hg_pool_shape_of(const hg_args *a);
/* First and one past the last tap of axis d that is inside [low, high) for output o: skips taps
 * that are far outside, so that a huge kernel costs no more than the input has elements. */
void hg_pool_taps_inside(const hg_pool_shape *s, int d, int64_t o, int64_t low, int64_t high,
                         int64_t *begin, int64_t *end);
/* Taps of axis d that count for the average of output o. */
int64_t hg_pool_axis_count(const hg_pool_shape *s, int d, int64_t o);

#endif
