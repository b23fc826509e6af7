/* lane_io.h - elements of any type to compute types and back, in runs with a stride. Loads and
 * stores of the lane interpreter and of the kernels that compute in f32 whatever the tensors hold.
 */
#ifndef HG_ISA_LANE_IO_H
#define HG_ISA_LANE_IO_H

#include "isa/lane.h"

#include <string.h>

/* Elements of one register of the interpreter, and of a tile, at least: decoding is a few percent
 * of the work and eight live registers of floats still fit half of a small L1 cache. */
enum { HG_LANE_TILE = 512 };

/* Widens elements first, first + stride, ... of data into d, n values of the type's compute type.
 */
void hg_lane_read(holo_dtype dtype, void *d, const void *data, int64_t first, int64_t stride,
                  int64_t n);
/* Narrows n values of compute type into elements first, first + stride, ... of data. */
void hg_lane_write(holo_dtype dtype, bool saturate, void *data, int64_t first, int64_t stride,
                   const void *s, int64_t n);

/* Tuned variants have these signatures and give the same bits. */
typedef void (*hg_lane_read_fn)(holo_dtype dtype, void *d, const void *data, int64_t first,
                                int64_t stride, int64_t n);
typedef void (*hg_lane_write_fn)(holo_dtype dtype, bool saturate, void *data, int64_t first,
                                 int64_t stride, const void *s, int64_t n);

/* The element type is its own compute type, so that memory can serve as a register. */
static inline bool hg_lane_is_native(holo_dtype dtype)
{
    return hg_dtype_in(dtype, HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) |
                                  HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64) |
                                  HG_TYPE_BIT(HOLO_U64));
}

/* Bytes of one value of a compute type. */
static inline size_t hg_lane_width(uint32_t type)
{
    return type == HG_LANE_F32 || type == HG_LANE_I32 ? 4 : 8;
}

/* n copies of the value of 4 or 8 bytes at `value`, which may be d itself. By memcpy: the values
 * may be read as any type. */
static inline void hg_lane_splat(void *d, const void *value, size_t width, int64_t n)
{
    uint8_t *to = d;
    uint32_t v4;
    uint64_t v8;
    if (width == 4) {
        memcpy(&v4, value, 4);
        for (int64_t i = 0; i < n; i++)
            memcpy(to + 4 * i, &v4, 4);
    } else {
        memcpy(&v8, value, 8);
        for (int64_t i = 0; i < n; i++)
            memcpy(to + 8 * i, &v8, 8);
    }
}

#endif
