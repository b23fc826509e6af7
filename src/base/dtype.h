/* dtype.h - facts about element types, from HOLO_DTYPE_MAP. */
#ifndef HG_BASE_DTYPE_H
#define HG_BASE_DTYPE_H

#include "base/base.h"

/* Sets of types as bit masks: 1 << number. */
typedef uint64_t hg_types;
#define HG_TYPE_BIT(dtype) (UINT64_C(1) << (dtype))
#define HG_TYPES_FLOAT8                                                                            \
    (HG_TYPE_BIT(HOLO_F8E4M3FN) | HG_TYPE_BIT(HOLO_F8E4M3FNUZ) | HG_TYPE_BIT(HOLO_F8E5M2) |        \
     HG_TYPE_BIT(HOLO_F8E5M2FNUZ))
#define HG_TYPES_FLOAT                                                                             \
    (HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16))
#define HG_TYPES_SIGNED_INT                                                                        \
    (HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64))
#define HG_TYPES_UNSIGNED_INT                                                                      \
    (HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_U16) | HG_TYPE_BIT(HOLO_U32) | HG_TYPE_BIT(HOLO_U64))
#define HG_TYPES_INT (HG_TYPES_SIGNED_INT | HG_TYPES_UNSIGNED_INT)
#define HG_TYPES_SIGNED (HG_TYPES_FLOAT | HG_TYPES_SIGNED_INT)
#define HG_TYPES_NUMBER (HG_TYPES_FLOAT | HG_TYPES_INT)
#define HG_TYPES_NARROW                                                                            \
    (HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F8E8M0) | HG_TYPE_BIT(HOLO_F4E2M1) |                       \
     HG_TYPE_BIT(HOLO_I4) | HG_TYPE_BIT(HOLO_U4) | HG_TYPE_BIT(HOLO_I2) | HG_TYPE_BIT(HOLO_U2))
#define HG_TYPES_BOOL HG_TYPE_BIT(HOLO_BOOL)
#define HG_TYPES_STRING HG_TYPE_BIT(HOLO_STRING)
#define HG_TYPES_COMPLEX (HG_TYPE_BIT(HOLO_C64) | HG_TYPE_BIT(HOLO_C128))
/* Every tensor element type. */
#define HG_TYPES_ANY                                                                               \
    (HG_TYPES_NUMBER | HG_TYPES_BOOL | HG_TYPES_STRING | HG_TYPES_COMPLEX | HG_TYPES_NARROW)

/* A runtime for some models has code for their types alone (tools/prune.py); opening refuses
 * others. */
#ifndef HG_TYPES_LINKED
#define HG_TYPES_LINKED UINT64_MAX
#endif
#define HG_IS_LINKED(dtype) ((HG_TYPES_LINKED & HG_TYPE_BIT(dtype)) != 0)

/* The type of a tensor is `one`; false, and what depends on it gone, where that is not linked. */
HG_INLINE bool hg_dtype_is(holo_dtype dtype, holo_dtype one)
{
    return HG_IS_LINKED(one) && dtype == one;
}

bool hg_dtype_is_valid(uint32_t dtype);
/* Bits per element; 0 for none and for sequence, optional and map. */
uint32_t hg_dtype_bits(holo_dtype dtype);
/* Bytes of count elements (packed when narrower than a byte); false when it overflows or count < 0.
 */
bool hg_dtype_bytes(holo_dtype dtype, int64_t count, size_t *bytes);
HG_INLINE bool hg_dtype_in(holo_dtype dtype, hg_types types)
{
    return (uint32_t)dtype < 64 && (types & HG_TYPE_BIT(dtype)) != 0;
}
/* Float of any width, including 8-bit and 4-bit ones. */
bool hg_dtype_is_float(holo_dtype dtype);
bool hg_dtype_is_signed_int(holo_dtype dtype);
bool hg_dtype_is_unsigned_int(holo_dtype dtype); /* bool is not */
/* HOLO_NONE when the text names no type. */
holo_dtype hg_dtype_from_text(const char *text, size_t length);

#endif
