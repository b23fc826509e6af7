/* domain.c - types with few values, and the values themselves. */
#include "base/half.h"
#include "table/table.h"

uint32_t hg_domain_bits(holo_dtype dtype)
{
    uint32_t bits = hg_dtype_bits(dtype);
    return bits <= 16 && hg_lane_type_of(dtype) != 0 ? bits : 0;
}

bool hg_domain_is_entry(holo_dtype dtype)
{
    uint32_t bits = hg_dtype_bits(dtype);
    return (bits == 8 || bits == 16 || bits == 32) && hg_lane_type_of(dtype) != 0;
}

hg_alphabet hg_domain_all(holo_dtype dtype)
{
    return (hg_alphabet){0, INT64_C(1) << hg_domain_bits(dtype)};
}

void hg_domain_fill(holo_dtype dtype, hg_alphabet codes, int64_t rows, void *data)
{
    const uint32_t bits = hg_domain_bits(dtype);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t k = 0; k < codes.count; k++) {
            const int64_t i = r * codes.count + k;
            const uint16_t code = (uint16_t)(codes.base + k);
            if (bits == 16)
                memcpy((uint8_t *)data + 2 * i, &code, 2);
            else if (bits == 8)
                ((uint8_t *)data)[i] = (uint8_t)code;
            else
                hg_packed_set(data, i, (int)bits, (uint8_t)code);
        }
    }
}
