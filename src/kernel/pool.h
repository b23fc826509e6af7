/* pool.h - parameters of the kernel "pool". */
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

#endif
