/* linearattention.h - parameters of the kernel "linearattention". */
#ifndef HG_KERNEL_LINEARATTENTION_H
#define HG_KERNEL_LINEARATTENTION_H

#include "isa/kernel.h"

enum {
    HG_LINEAR_PARAM_Q_HEADS,
    HG_LINEAR_PARAM_HEADS,
    HG_LINEAR_PARAM_SCALE, /* f64; 0: one over the root of the size of a key */
    HG_LINEAR_PARAMS
};

#endif
