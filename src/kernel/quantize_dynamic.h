/* quantize_dynamic.h - what every variant of "quantize.extent" and "quantize.dynamic" shares. */
#ifndef HG_KERNEL_QUANTIZE_DYNAMIC_H
#define HG_KERNEL_QUANTIZE_DYNAMIC_H

#include "isa/kernel.h"

#include <math.h>

enum { HG_EXTENT_BLOCK = 1 << 14 }; /* elements whose bounds are found by one unit */

/* Codes are round(x / divisor) + zero, limited to 0 .. 255. */
typedef struct hg_dynamic_scale {
    float scale, divisor, zero;
} hg_dynamic_scale;

holo_status hg_quantize_extent_check(const hg_args *a, holo_error *e);
int64_t hg_quantize_extent_units(const hg_args *a);
holo_status hg_quantize_dynamic_check(const hg_args *a, holo_error *e);
int64_t hg_quantize_dynamic_units(const hg_args *a);
/* From the bounds of all blocks; writes scale and zero point when the range has the first unit. */
hg_dynamic_scale hg_quantize_dynamic_scale(const hg_args *a, hg_range r);

/* Elements of unit u. */
static inline int64_t hg_extent_count(const hg_args *a, int64_t u)
{
    return hg_min(HG_EXTENT_BLOCK, holo_tensor_count(&a->in[0]) - u * HG_EXTENT_BLOCK);
}

/* The smaller or larger of two, NaN if either is NaN. */
static inline float hg_extent_low(float a, float b)
{
    return a < b || a != a ? a : b;
}

static inline float hg_extent_high(float a, float b)
{
    return a > b || a != a ? a : b;
}

static inline uint8_t hg_dynamic_code(float x, const hg_dynamic_scale *s)
{
    float y = rintf(x / s->divisor) + s->zero;
    y = y > 255.0f ? 255.0f : y;
    return y >= 0.0f ? (uint8_t)y : 0; /* NaN gives 0 */
}

#endif
