/* value.h - numbers in tensors of any type for kernels that compute: filled at random, read back as
 * f64, compared within what the type can hold. */
#ifndef HG_TEST_KERNEL_VALUE_H
#define HG_TEST_KERNEL_VALUE_H

#include "kernel/move.h"

#include <math.h>

static inline double value_get(const holo_tensor *t, int64_t i)
{
    switch ((int)t->dtype) {
    case HOLO_F32: return (double)((const float *)t->data)[i];
    case HOLO_F64: return ((const double *)t->data)[i];
    case HOLO_F16: return (double)hg_f16_to_f32(((const uint16_t *)t->data)[i]);
    case HOLO_BF16: return (double)hg_bf16_to_f32(((const uint16_t *)t->data)[i]);
    case HOLO_I8: return (double)((const int8_t *)t->data)[i];
    case HOLO_U8: return (double)((const uint8_t *)t->data)[i];
    case HOLO_I32: return (double)((const int32_t *)t->data)[i];
    default: return (double)((const int64_t *)t->data)[i];
    }
}

static inline void value_set(holo_tensor *t, int64_t i, double v)
{
    switch ((int)t->dtype) {
    case HOLO_F32: ((float *)t->data)[i] = (float)v; break;
    case HOLO_F64: ((double *)t->data)[i] = v; break;
    case HOLO_F16: ((uint16_t *)t->data)[i] = hg_f32_to_f16((float)v); break;
    case HOLO_BF16: ((uint16_t *)t->data)[i] = hg_f32_to_bf16((float)v); break;
    case HOLO_I8: ((int8_t *)t->data)[i] = (int8_t)v; break;
    case HOLO_U8: ((uint8_t *)t->data)[i] = (uint8_t)v; break;
    case HOLO_I32: ((int32_t *)t->data)[i] = (int32_t)v; break;
    default: ((int64_t *)t->data)[i] = (int64_t)v; break;
    }
}

/* The same numbers in every run: a linear congruential generator. */
static inline double value_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* Floats in [-2, 2), integers over a small range of the type. */
static inline void value_fill(holo_tensor *t, uint64_t seed)
{
    const int64_t count = holo_tensor_count(t);
    for (int64_t i = 0; i < count; i++) {
        double v = value_random(&seed) * 4.0 - 2.0;
        if (!hg_dtype_is_float(t->dtype)) v = floor(v * 40.0);
        if (t->dtype == HOLO_U8 && v < 0.0) v += 200.0;
        value_set(t, i, v);
    }
}

static inline holo_tensor *value_in(move_call *c, holo_dtype dtype, int rank, const int64_t *dim,
                                    uint64_t seed)
{
    holo_tensor *t = move_in(c, dtype, rank, dim);
    value_fill(t, seed);
    return t;
}

/* An input that is not there. */
static inline void value_absent(move_call *c)
{
    c->args.n_in++;
}

static inline void value_param_f64(move_call *c, double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    move_param(c, bits);
}

static inline void value_params(move_call *c, const int64_t *list, int count)
{
    for (int i = 0; i < count; i++)
        move_param(c, list[i]);
}

/* Relative error that rounding to the type and a short sum leave. */
static inline double value_tolerance(holo_dtype dtype)
{
    if (dtype == HOLO_F64) return 1e-12;
    if (dtype == HOLO_F16) return 2e-3;
    return dtype == HOLO_BF16 ? 1.6e-2 : 4e-6;
}

/* Element i of t is `expected`, as near as its type allows. */
static inline bool value_near(const holo_tensor *t, int64_t i, double expected)
{
    const double scale = fabs(expected) > 1.0 ? fabs(expected) : 1.0;
    return CHECK_NEAR(value_get(t, i), expected, value_tolerance(t->dtype) * scale);
}

#endif
