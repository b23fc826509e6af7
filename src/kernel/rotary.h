/* rotary.h - what every variant of "rotary" shares. */
#ifndef HG_KERNEL_ROTARY_H
#define HG_KERNEL_ROTARY_H

#include "isa/kernel.h"

/* One row of 2 * half elements. */
typedef void (*hg_rotary_row_fn)(const float *x, const float *c, const float *s, int64_t half,
                                 float *to);

holo_status hg_rotary_check(const hg_args *a, holo_error *e);
int64_t hg_rotary_units(const hg_args *a);
void hg_rotary_run(const hg_args *a, hg_range r, hg_rotary_row_fn turn);
void hg_rotary_row(const float *x, const float *c, const float *s, int64_t half, float *to);

#endif
