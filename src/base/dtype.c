/* dtype.c - facts about element types. */
#include "base/dtype.h"

#include <string.h>

const char *holo_dtype_text(holo_dtype dtype)
{
    switch (dtype) {
    case HOLO_NONE: return "none";
#define X(name, number, text, bits)                                                                \
    case HOLO_##name: return text;
        HOLO_DTYPE_MAP(X)
#undef X
    }
    return "unknown";
}

uint32_t hg_dtype_bits(holo_dtype dtype)
{
    switch (dtype) {
    case HOLO_NONE: return 0;
#define X(name, number, text, bits)                                                                \
    case HOLO_##name: return bits;
        HOLO_DTYPE_MAP(X)
#undef X
    }
    return 0;
}

bool hg_dtype_is_valid(uint32_t dtype)
{
    static const bool known[] = {
#define X(name, number, text, bits) [number] = true,
        HOLO_DTYPE_MAP(X)
#undef X
    };
    return dtype < HG_COUNT(known) && known[dtype];
}

bool hg_dtype_bytes(holo_dtype dtype, int64_t count, size_t *bytes)
{
    uint32_t bits = hg_dtype_bits(dtype);
    if (bits == 0) bits = 8 * (uint32_t)sizeof(holo_tensor);
    size_t all;
    if (count < 0 || (uint64_t)count > SIZE_MAX || !hg_mul_size((size_t)count, bits, &all) ||
        all > SIZE_MAX - 7)
        return false;
    *bytes = (all + 7) / 8;
    return true;
}

bool hg_dtype_is_float(holo_dtype dtype)
{
    return hg_dtype_in(dtype, HG_TYPES_FLOAT | HG_TYPES_FLOAT8 | HG_TYPE_BIT(HOLO_F8E8M0) |
                                  HG_TYPE_BIT(HOLO_F4E2M1));
}

bool hg_dtype_is_signed_int(holo_dtype dtype)
{
    return hg_dtype_in(dtype, HG_TYPES_SIGNED_INT | HG_TYPE_BIT(HOLO_I4) | HG_TYPE_BIT(HOLO_I2));
}

bool hg_dtype_is_unsigned_int(holo_dtype dtype)
{
    return hg_dtype_in(dtype, HG_TYPES_UNSIGNED_INT | HG_TYPE_BIT(HOLO_U4) | HG_TYPE_BIT(HOLO_U2));
}

holo_dtype hg_dtype_from_text(const char *text, size_t length)
{
#define X(name, number, known, bits)                                                               \
    if (strlen(known) == length && memcmp(known, text, length) == 0) return HOLO_##name;
    HOLO_DTYPE_MAP(X)
#undef X
    return HOLO_NONE;
}

int64_t holo_tensor_count(const holo_tensor *tensor)
{
    int64_t count = 1;
    if (tensor->rank < 0 || tensor->rank > HG_MAX_RANK) return -1;
    for (int32_t i = 0; i < tensor->rank; i++)
        if (tensor->dim[i] < 0 || !hg_mul_i64(count, tensor->dim[i], &count)) return -1;
    return count;
}

size_t holo_tensor_bytes(const holo_tensor *tensor)
{
    size_t bytes;
    return hg_dtype_bytes(tensor->dtype, holo_tensor_count(tensor), &bytes) ? bytes : SIZE_MAX;
}
