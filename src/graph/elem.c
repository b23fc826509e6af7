/* elem.c - elements of constants of every type as wide numbers. */
#include "graph/elem.h"
#include "base/half.h"

hg_elem_kind hg_elem_kind_of(holo_dtype dtype)
{
    if (hg_dtype_is_float(dtype)) return HG_ELEM_FLOAT;
    if (hg_dtype_is_signed_int(dtype)) return HG_ELEM_INT;
    if (hg_dtype_is_unsigned_int(dtype) || dtype == HOLO_BOOL) return HG_ELEM_UINT;
    return HG_ELEM_NONE;
}

uint64_t hg_elem_read_bits(holo_dtype dtype, const void *data, int64_t index)
{
    const uint8_t *from = data;
    uint32_t bits = hg_dtype_bits(dtype);
    if (bits < 8) return hg_packed_get(from, index, (int)bits);
    uint64_t word = 0;
    size_t bytes = bits / 8;
    for (size_t i = 0; i < bytes && i < 8; i++)
        word |= (uint64_t)from[(size_t)index * bytes + i] << (8 * i);
    return word;
}

void hg_elem_write_bits(holo_dtype dtype, void *data, int64_t index, uint64_t word)
{
    uint8_t *to = data;
    uint32_t bits = hg_dtype_bits(dtype);
    if (bits < 8) {
        hg_packed_set(to, index, (int)bits, (uint8_t)(word & 15));
        return;
    }
    size_t bytes = bits / 8;
    for (size_t i = 0; i < bytes && i < 8; i++)
        to[(size_t)index * bytes + i] = (uint8_t)(word >> (8 * i));
}

/* Types that are no floats give NaN; hg_elem_kind_of keeps them away. */
static double elem_float(holo_dtype dtype, uint64_t bits)
{
    static const uint32_t not_a_number = 0x7fc00000;
    uint8_t code = (uint8_t)bits;
    if (dtype == HOLO_F64) return hg_f64_from_bits(bits);
    if (dtype == HOLO_F32) return (double)hg_f32_from_bits((uint32_t)bits);
    if (dtype == HOLO_F16) return (double)hg_f16_to_f32((uint16_t)bits);
    if (dtype == HOLO_BF16) return (double)hg_bf16_to_f32((uint16_t)bits);
    if (dtype == HOLO_F8E4M3FN) return (double)hg_f8e4m3fn_to_f32(code);
    if (dtype == HOLO_F8E4M3FNUZ) return (double)hg_f8e4m3fnuz_to_f32(code);
    if (dtype == HOLO_F8E5M2) return (double)hg_f8e5m2_to_f32(code);
    if (dtype == HOLO_F8E5M2FNUZ) return (double)hg_f8e5m2fnuz_to_f32(code);
    if (dtype == HOLO_F4E2M1) return (double)hg_f4e2m1_to_f32(code);
    if (dtype == HOLO_F8E8M0) return (double)hg_f8e8m0_to_f32(code);
    return (double)hg_f32_from_bits(not_a_number);
}

static uint64_t elem_from_float(holo_dtype dtype, double value)
{
    float x = hg_f64_to_f32_odd(value);
    if (dtype == HOLO_F64) return hg_bits_f64(value);
    if (dtype == HOLO_F32) return hg_bits_f32((float)value);
    if (dtype == HOLO_F16) return hg_f32_to_f16(x);
    if (dtype == HOLO_BF16) return hg_f32_to_bf16(x);
    if (dtype == HOLO_F8E4M3FN) return hg_f32_to_f8e4m3fn(x, false);
    if (dtype == HOLO_F8E4M3FNUZ) return hg_f32_to_f8e4m3fnuz(x, false);
    if (dtype == HOLO_F8E5M2) return hg_f32_to_f8e5m2(x, false);
    if (dtype == HOLO_F8E5M2FNUZ) return hg_f32_to_f8e5m2fnuz(x, false);
    if (dtype == HOLO_F4E2M1) return hg_f32_to_f4e2m1(x);
    /* Powers of two are written with the digits of f32, and every other number is rounded up. */
    return hg_f32_to_f8e8m0((float)value, false);
}

hg_elem hg_elem_read(holo_dtype dtype, const void *data, int64_t index)
{
    hg_elem e = {.kind = hg_elem_kind_of(dtype)};
    if (e.kind == HG_ELEM_NONE) return e;
    uint32_t bits = hg_dtype_bits(dtype);
    uint64_t word = hg_elem_read_bits(dtype, data, index);
    if (e.kind == HG_ELEM_FLOAT) {
        e.f = elem_float(dtype, word);
    } else if (e.kind == HG_ELEM_UINT) {
        e.u = word;
    } else {
        uint64_t sign = UINT64_C(1) << (bits - 1);
        e.i = (int64_t)((word ^ sign) - sign);
    }
    return e;
}

bool hg_elem_write(holo_dtype dtype, void *data, int64_t index, hg_elem value)
{
    uint32_t bits = hg_dtype_bits(dtype);
    uint64_t word = 0;
    switch (value.kind) {
    case HG_ELEM_NONE: return false;
    case HG_ELEM_FLOAT: word = elem_from_float(dtype, value.f); break;
    case HG_ELEM_UINT:
        if (dtype == HOLO_BOOL ? value.u > 1 : bits < 64 && value.u >> bits != 0) return false;
        word = value.u;
        break;
    case HG_ELEM_INT:
        if (value.i < -(INT64_C(1) << (bits - 2)) * 2 ||
            (value.i > 0 && (uint64_t)value.i >> (bits - 1) != 0))
            return false;
        word = (uint64_t)value.i & (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
        break;
    }
    hg_elem_write_bits(dtype, data, index, word);
    return true;
}
