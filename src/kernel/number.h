/* number.h - elements of any number type as f64 and back, one at a time: for kernels whose speed
 * lies elsewhere. Integers of 64 bits lose what f64 cannot hold. */
#ifndef HG_KERNEL_NUMBER_H
#define HG_KERNEL_NUMBER_H

#include "base/half.h"
#include "isa/kernel.h"

static inline double hg_number_at(const void *data, holo_dtype dtype, int64_t i)
{
    if (dtype == HOLO_F32) return (double)((const float *)data)[i];
    if (dtype == HOLO_F64) return ((const double *)data)[i];
    if (dtype == HOLO_F16) return (double)hg_f16_to_f32(((const uint16_t *)data)[i]);
    if (dtype == HOLO_BF16) return (double)hg_bf16_to_f32(((const uint16_t *)data)[i]);
    if (dtype == HOLO_I8) return (double)((const int8_t *)data)[i];
    if (dtype == HOLO_U8 || dtype == HOLO_BOOL) return (double)((const uint8_t *)data)[i];
    if (dtype == HOLO_I16) return (double)((const int16_t *)data)[i];
    if (dtype == HOLO_U16) return (double)((const uint16_t *)data)[i];
    if (dtype == HOLO_I32) return (double)((const int32_t *)data)[i];
    if (dtype == HOLO_U32) return (double)((const uint32_t *)data)[i];
    if (dtype == HOLO_I64) return (double)((const int64_t *)data)[i];
    return (double)((const uint64_t *)data)[i];
}

static inline double hg_number_load(const holo_tensor *t, int64_t i)
{
    return hg_number_at(t->data, t->dtype, i);
}

/* Floats round to nearest; integers must be in range. */
static inline void hg_number_put(void *data, holo_dtype dtype, int64_t i, double value)
{
    if (dtype == HOLO_F32) ((float *)data)[i] = (float)value;
    if (dtype == HOLO_F64) ((double *)data)[i] = value;
    if (dtype == HOLO_F16) ((uint16_t *)data)[i] = hg_f32_to_f16(hg_f64_to_f32_odd(value));
    if (dtype == HOLO_BF16) ((uint16_t *)data)[i] = hg_f32_to_bf16(hg_f64_to_f32_odd(value));
    if (dtype == HOLO_I8) ((int8_t *)data)[i] = (int8_t)value;
    if (dtype == HOLO_U8 || dtype == HOLO_BOOL) ((uint8_t *)data)[i] = (uint8_t)value;
    if (dtype == HOLO_I16) ((int16_t *)data)[i] = (int16_t)value;
    if (dtype == HOLO_U16) ((uint16_t *)data)[i] = (uint16_t)value;
    if (dtype == HOLO_I32) ((int32_t *)data)[i] = (int32_t)value;
    if (dtype == HOLO_U32) ((uint32_t *)data)[i] = (uint32_t)value;
    if (dtype == HOLO_I64) ((int64_t *)data)[i] = (int64_t)value;
    if (dtype == HOLO_U64) ((uint64_t *)data)[i] = (uint64_t)value;
}

static inline void hg_number_store(const holo_tensor *t, int64_t i, double value)
{
    hg_number_put(t->data, t->dtype, i, value);
}

#endif
