/* det.h - kernel "det", for folders that compile det_run.inc with their own flags. */
#ifndef HG_KERNEL_DET_H
#define HG_KERNEL_DET_H

#include "isa/lane_math.h"
#include "kernel/number.h"

enum {
    HG_DET_LANES = 4, /* float64 of a vector */
    HG_DET_ROWS = 2   /* that are eliminated together */
};

/* Elements of a row in scratch memory. */
HG_INLINE int64_t hg_det_width(int64_t n)
{
    return hg_ceil_div(n, HG_DET_LANES) * HG_DET_LANES;
}

holo_status hg_det_check(const hg_args *a, holo_error *e);
/* The rest: checked arguments only. */
int64_t hg_det_units(const hg_args *a);
size_t hg_det_scratch(const hg_args *a);
void hg_det_cost(const hg_args *a, hg_cost *cost);

#endif
