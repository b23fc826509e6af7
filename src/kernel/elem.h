/* elem.h - elements by size and indices by type: what data movement kernels share. */
#ifndef HG_KERNEL_ELEM_H
#define HG_KERNEL_ELEM_H

#include "base/half.h"
#include "isa/kernel.h"

/* Complex numbers of doubles and strings. */
typedef struct hg_elem16 {
    uint64_t low, high;
} hg_elem16;

#define HG_ELEM_INDEX (HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))

/* Elements narrower than a byte share bytes: such a tensor is one unit of work. */
static inline bool hg_elem_is_packed(const holo_tensor *t)
{
    return hg_dtype_bits(t->dtype) < 8;
}

/* Copies n elements of `bits` bits from element si of src to element di of dst. */
static inline void hg_elem_copy(void *dst, int64_t di, const void *src, int64_t si, int64_t n,
                                uint32_t bits)
{
    if (HG_UNLIKELY(bits < 8)) {
        for (int64_t i = 0; i < n; i++)
            hg_packed_set(dst, di + i, (int)bits, hg_packed_get(src, si + i, (int)bits));
    } else if (n == 1 && bits == 32) {
        ((uint32_t *)dst)[di] = ((const uint32_t *)src)[si];
    } else if (n == 1 && bits == 64) { /* a pair of floats is aligned as a float is */
        memcpy((uint8_t *)dst + di * 8, (const uint8_t *)src + si * 8, 8);
    } else if (n > 0) {
        int64_t size = (int64_t)bits / 8;
        memcpy((uint8_t *)dst + di * size, (const uint8_t *)src + si * size, (size_t)(n * size));
    }
}

/* n elements of `bits` bits from element di of dst on are all as the one at `value`. */
void hg_elem_fill(void *dst, int64_t di, const void *value, int64_t n, uint32_t bits);

/* Element i of a tensor of int32 or int64. */
static inline int64_t hg_elem_int(const holo_tensor *t, int64_t i)
{
    return t->dtype == HOLO_I32 ? ((const int32_t *)t->data)[i] : ((const int64_t *)t->data)[i];
}

/* Element i of an index tensor as a place in [0, size); negative ones count from the end. Out of
 * range: -1 and a fault. */
static inline int64_t hg_elem_place(const hg_args *a, const holo_tensor *t, int64_t i, int64_t size)
{
    int64_t index = hg_elem_int(t, i), place = index < 0 ? index + size : index;
    if (HG_LIKELY(place >= 0 && place < size)) return place;
    hg_fault_range(a->fault, "index", i, index, -size, size - 1);
    return -1;
}

/* Number of the element that meets element i of `to`, by the strides of hg_broadcast_strides. */
static inline int64_t hg_elem_broadcast(const holo_tensor *to, const int64_t *stride, int64_t i)
{
    int64_t at = 0;
    for (int k = to->rank - 1; k >= 0; k--) {
        at += i % to->dim[k] * stride[k];
        i /= to->dim[k];
    }
    return at;
}

/* The number at element i of any number type, cut off to an integer; NaN and what is beyond gives
 * the smallest integer. */
int64_t hg_elem_to_int(const holo_tensor *t, int64_t i);
/* Whether element i is zero: false, -0.0 and the empty string are. */
bool hg_elem_is_zero(const holo_tensor *t, int64_t i);

#endif
