/* norm.h - what the reference and tuned variants of the kernels "layernorm" and "groupnorm" share.
 *
 * Numerics. float16, bfloat16 and float32 compute in f32, float64 in f64:
 *   mean = sum(x) / n      var = sum((x - mean)^2) / n      inverse = 1 / sqrt(var + epsilon)
 *   y = ((x - mean) * inverse) * scale + bias
 * Sums use 16 virtual lanes and a fixed tree as in reduce.c, over the elements in memory order;
 * beyond 2,048 elements the lanes of such pieces are added up, so that errors do not grow with the
 * sum (a group of 8 million: 4e-7 instead of 7e-5). NaN
 * anywhere in what is normalised together makes all of it NaN. */
#ifndef HG_KERNEL_NORM_H
#define HG_KERNEL_NORM_H

#include "isa/kernel.h"
#include "isa/lane_io.h"

holo_status hg_kernel_layernorm_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_layernorm_units(const hg_args *a);
size_t hg_kernel_layernorm_scratch(const hg_args *a);
holo_status hg_kernel_groupnorm_check(const hg_args *a, holo_error *e);
int64_t hg_kernel_groupnorm_units(const hg_args *a);
size_t hg_kernel_groupnorm_scratch(const hg_args *a);
/* Both. */
void hg_kernel_norm_cost(const hg_args *a, hg_cost *cost);
/* Any type; tuned variants need not have f64. */
void hg_kernel_layernorm_run(const hg_args *a, hg_range r);
void hg_kernel_groupnorm_run(const hg_args *a, hg_range r);

typedef struct hg_norm {
    const holo_tensor *x;
    const holo_tensor *out; /* y, mean, inverse deviation; the last two may be absent */
    holo_dtype dtype;
    bool is_native, is_rms;
    bool has_mean, has_inverse;
    double epsilon;
    int64_t n;                          /* elements that are normalised together */
    int64_t channels, groups, together; /* groupnorm; groups of a unit */
    int64_t positions;                  /* groupnorm: elements of one channel of one sample */
    const void *scale, *bias;           /* in the compute type, or NULL */
    void *mean, *inverse;               /* groupnorm, channels last: of the group of each channel */
    void *row, *work; /* scratch: two rows, or a value for each channel; lanes or a piece */
} hg_norm;

enum { HG_NORM_LANES = 16, HG_NORM_COLS = 128 };

/* x's dims from axis on: what is normalised together, and what scale and bias broadcast to. */
holo_tensor hg_norm_tail(const holo_tensor *x, int axis);
/* Scale or bias in the compute type, repeated to the shape `tail`: in place, or in `to`. */
const void *hg_norm_expand(const hg_args *a, uint32_t i, const holo_tensor *tail, void *to,
                           hg_lane_read_fn read);
/* The state at the start of the scratch; *work is what follows it. */
hg_norm *hg_norm_init(const hg_args *a, void *scratch, uint8_t **work);
hg_norm *hg_layernorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read);
hg_norm *hg_groupnorm_init(const hg_args *a, void *scratch, hg_lane_read_fn read);

#endif
