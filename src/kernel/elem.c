/* elem.c - single elements of any type. */
#include "kernel/elem.h"

void hg_elem_fill(void *dst, int64_t di, const void *value, int64_t n, uint32_t bits)
{
    hg_elem16 copies[4] = {{0, 0}};
    if (HG_UNLIKELY(bits < 8)) {
        for (int64_t i = 0; i < n; i++)
            hg_elem_copy(dst, di + i, value, 0, 1, bits);
        return;
    }
    const size_t size = bits / 8, bytes = (size_t)n * size;
    uint8_t *to = (uint8_t *)dst + di * (int64_t)size;
    memcpy(copies, value, size);
    for (uint32_t width = bits; width < 64; width *= 2)
        copies[0].low |= copies[0].low << width;
    if (bits < 128) copies[0].high = copies[0].low;
    copies[1] = copies[2] = copies[3] = copies[0];
    size_t done = 0;
    for (; done + sizeof copies <= bytes; done += sizeof copies) /* from registers */
        memcpy(to + done, copies, sizeof copies);
    memcpy(to + done, copies, bytes - done);
}

static int64_t elem_from_f64(double x)
{
    return x > -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

int64_t hg_elem_to_int(const holo_tensor *t, int64_t i)
{
    switch ((int)t->dtype) {
    case HOLO_BOOL:
    case HOLO_U8: return ((const uint8_t *)t->data)[i];
    case HOLO_I8: return ((const int8_t *)t->data)[i];
    case HOLO_U16: return ((const uint16_t *)t->data)[i];
    case HOLO_I16: return ((const int16_t *)t->data)[i];
    case HOLO_U32: return ((const uint32_t *)t->data)[i];
    case HOLO_I32: return ((const int32_t *)t->data)[i];
    case HOLO_U64: return (int64_t)((const uint64_t *)t->data)[i];
    case HOLO_I64: return ((const int64_t *)t->data)[i];
    case HOLO_F64: return elem_from_f64(((const double *)t->data)[i]);
    case HOLO_F32: return elem_from_f64((double)((const float *)t->data)[i]);
    case HOLO_F16: return elem_from_f64((double)hg_f16_to_f32(((const uint16_t *)t->data)[i]));
    case HOLO_BF16: return elem_from_f64((double)hg_bf16_to_f32(((const uint16_t *)t->data)[i]));
    default: return INT64_MIN;
    }
}

bool hg_elem_is_zero(const holo_tensor *t, int64_t i)
{
    const bool is_float = hg_dtype_in(t->dtype, HG_TYPES_FLOAT);
    switch (hg_dtype_bits(t->dtype)) {
    case 8: return ((const uint8_t *)t->data)[i] == 0;
    case 16: return (((const uint16_t *)t->data)[i] & (is_float ? 0x7fff : 0xffff)) == 0;
    case 32: return (((const uint32_t *)t->data)[i] & (is_float ? 0x7fffffff : 0xffffffff)) == 0;
    case 64:
        if (t->dtype == HOLO_C64)
            return ((const float *)t->data)[2 * i] == 0 && ((const float *)t->data)[2 * i + 1] == 0;
        return (((const uint64_t *)t->data)[i] & (is_float ? INT64_MAX : UINT64_MAX)) == 0;
    default:
        if (t->dtype == HOLO_STRING) return ((const holo_string *)t->data)[i].length == 0;
        return ((const double *)t->data)[2 * i] == 0 && ((const double *)t->data)[2 * i + 1] == 0;
    }
}
