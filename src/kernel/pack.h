/* pack.h - weight layouts every CPU kernel reads: panels of 16 columns. */
#ifndef HG_KERNEL_PACK_H
#define HG_KERNEL_PACK_H

#include "isa/kernel.h"

enum { HG_PANEL = 16, HG_PACK_MATRICES = 8 /* side by side in one packing */ };

/* Panels that hold n columns. */
static inline int64_t hg_panels(int64_t n)
{
    return n / HG_PANEL + (n % HG_PANEL != 0);
}

#endif
