/* softmax.h - what the reference and tuned variants of the kernel "softmax" share. */
#ifndef HG_KERNEL_SOFTMAX_H
#define HG_KERNEL_SOFTMAX_H

#include "isa/kernel.h"
#include "isa/lane_io.h"

holo_status hg_kernel_softmax_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_softmax_units(const hg_args *a);
size_t hg_kernel_softmax_scratch(const hg_args *a);
void hg_kernel_softmax_cost(const hg_args *a, hg_cost *cost);
/* Any type; tuned variants need not have f64. */
void hg_kernel_softmax_run(const hg_args *a, hg_range r);

typedef struct hg_softmax {
    const holo_tensor *x, *mask; /* mask may be NULL */
    void *out;
    holo_dtype dtype;
    int axis;
    bool is_log, is_native;
    int64_t n, inner;
    int64_t mask_stride[HG_MAX_RANK];
    void *work; /* scratch: two rows in the compute type, or a block of columns */
} hg_softmax;

hg_softmax *hg_softmax_init(const hg_args *a, void *scratch);
/* Number of the mask's element for outer index `outer` and inner index `col`, step 0. */
int64_t hg_softmax_mask_at(const hg_softmax *s, int64_t outer, int64_t col);

#endif
