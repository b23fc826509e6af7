/* elem.c - elements of tensors as doubles. */
#include "io/elem.h"

#include <string.h>

uint32_t hg_elem_bits(holo_dtype dtype)
{
    static const uint8_t width[] = {
#define X(name, number, text, bits) [number] = bits,
        HOLO_DTYPE_MAP(X)
#undef X
    };
    return (uint32_t)dtype < HG_COUNT(width) ? width[dtype] : 0;
}

uint32_t hg_elem_parts(holo_dtype dtype)
{
    return dtype == HOLO_C64 || dtype == HOLO_C128 ? 2 : 1;
}

hg_elem_class hg_elem_classify(holo_dtype dtype)
{
    switch (dtype) {
    case HOLO_F32:
    case HOLO_F16:
    case HOLO_F64:
    case HOLO_C64:
    case HOLO_C128:
    case HOLO_BF16:
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F8E8M0:
    case HOLO_F4E2M1: return HG_ELEM_FLOAT;
    case HOLO_U8:
    case HOLO_I8:
    case HOLO_U16:
    case HOLO_I16:
    case HOLO_I32:
    case HOLO_I64:
    case HOLO_BOOL:
    case HOLO_U32:
    case HOLO_U64:
    case HOLO_U4:
    case HOLO_I4:
    case HOLO_U2:
    case HOLO_I2: return HG_ELEM_INTEGER;
    case HOLO_NONE:
    case HOLO_STRING:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: return HG_ELEM_OTHER;
    }
    return HG_ELEM_OTHER;
}

/* What a small float type is: sign at the top, then exponent, then mantissa. */
typedef struct elem_small {
    int mantissa; /* bits */
    int bias;
    uint32_t top;       /* codes without the sign are 0..top; above lies NaN */
    bool infinity;      /* the code top is infinite */
    bool unsigned_zero; /* fnuz: the code of minus zero is NaN */
} elem_small;

static const elem_small *elem_small_type(holo_dtype dtype)
{
    static const elem_small e4m3fn = {3, 7, 0x7e, false, false};
    static const elem_small e4m3fnuz = {3, 8, 0x7f, false, true};
    static const elem_small e5m2 = {2, 15, 0x7c, true, false};
    static const elem_small e5m2fnuz = {2, 16, 0x7f, false, true};
    static const elem_small e2m1 = {1, 1, 0x7, false, false};
    if (dtype == HOLO_F8E4M3FN) return &e4m3fn;
    if (dtype == HOLO_F8E4M3FNUZ) return &e4m3fnuz;
    if (dtype == HOLO_F8E5M2) return &e5m2;
    if (dtype == HOLO_F8E5M2FNUZ) return &e5m2fnuz;
    if (dtype == HOLO_F4E2M1) return &e2m1;
    return NULL;
}

static double elem_small_get(const elem_small *type, uint32_t sign, uint32_t code)
{
    if (code > type->top || (type->unsigned_zero && sign != 0 && code == 0)) return (double)NAN;
    if (type->infinity && code == type->top) return sign ? -(double)INFINITY : (double)INFINITY;
    uint32_t mantissa = code & ((1u << type->mantissa) - 1), exponent = code >> type->mantissa;
    double value = exponent == 0 ? ldexp((double)mantissa, 1 - type->bias - type->mantissa)
                                 : ldexp((double)(mantissa + (1u << type->mantissa)),
                                         (int)exponent - type->bias - type->mantissa);
    return sign ? -value : value;
}

/* The nearest code by search: 128 candidates are few enough for a tool. Saturates like ONNX Cast.
 */
static uint32_t elem_small_code(const elem_small *type, double magnitude)
{
    uint32_t top = type->infinity ? type->top - 1 : type->top, best = 0;
    double best_distance = magnitude;
    for (uint32_t code = 1; code <= top; code++) {
        double distance = fabs(magnitude - elem_small_get(type, 0, code));
        if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
            best = code;
            best_distance = distance;
        }
    }
    return best;
}

static uint32_t elem_small_set(const elem_small *type, uint32_t bits, double value)
{
    uint32_t sign = signbit(value) ? 1u << (bits - 1) : 0, all = (1u << bits) - 1;
    if (isnan(value)) {
        if (type->unsigned_zero) return 1u << (bits - 1);
        return all >> 1 == type->top ? 0 : all >> 1; /* float4 has no NaN */
    }
    uint32_t code = elem_small_code(type, isinf(value) ? 1e30 : fabs(value));
    if (type->infinity && isinf(value)) code = type->top;
    return type->unsigned_zero && code == 0 ? 0 : sign | code;
}

double hg_elem_from_half(uint16_t bits)
{
    uint32_t exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
    double value;
    if (exponent == 31)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)mantissa, -24);
    else
        value = ldexp((double)(mantissa + 1024), (int)exponent - 25);
    return bits & 0x8000u ? -value : value;
}

uint16_t hg_elem_to_half(double value)
{
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    double a = fabs(value);
    if (isnan(value)) return 0x7e00;
    if (a >= 65520.0) return (uint16_t)(sign | 0x7c00u);
    int exponent = a > 0 ? ilogb(a) : -15;
    if (exponent < -14) exponent = -14; /* subnormals share the exponent -14 */
    uint32_t units = (uint32_t)nearbyint(ldexp(a, 10 - exponent));
    if (units < 1024) return (uint16_t)(sign | units);
    return (uint16_t)(sign + ((uint32_t)(exponent + 14) << 10) +
                      units); /* a carry moves the exponent */
}

static double elem_from_bfloat(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static uint16_t elem_to_bfloat(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (isnan(value)) return 0x7fc0;
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* Reads a code of `bits` < 8 bits; the first element lies in the low bits. */
static uint32_t elem_packed_get(const uint8_t *data, int64_t i, uint32_t bits)
{
    uint64_t at = (uint64_t)i * bits;
    return (uint32_t)(data[at / 8] >> (at % 8)) & ((1u << bits) - 1);
}

static void elem_packed_set(uint8_t *data, int64_t i, uint32_t bits, uint32_t code)
{
    uint64_t at = (uint64_t)i * bits;
    uint32_t mask = ((1u << bits) - 1) << (at % 8);
    data[at / 8] = (uint8_t)((data[at / 8] & ~mask) | ((code << (at % 8)) & mask));
}

static int64_t elem_sign_extend(uint32_t code, uint32_t bits)
{
    uint32_t half = 1u << (bits - 1);
    return (int64_t)(code ^ half) - (int64_t)half;
}

int64_t hg_elem_get_int(const holo_tensor *tensor, int64_t i)
{
    const void *p = tensor->data;
    switch (tensor->dtype) {
    case HOLO_U8:
    case HOLO_BOOL: return ((const uint8_t *)p)[i];
    case HOLO_I8: return ((const int8_t *)p)[i];
    case HOLO_U16: return ((const uint16_t *)p)[i];
    case HOLO_I16: return ((const int16_t *)p)[i];
    case HOLO_I32: return ((const int32_t *)p)[i];
    case HOLO_I64: return ((const int64_t *)p)[i];
    case HOLO_U32: return ((const uint32_t *)p)[i];
    case HOLO_U64: return (int64_t)((const uint64_t *)p)[i];
    case HOLO_U4: return elem_packed_get(p, i, 4);
    case HOLO_U2: return elem_packed_get(p, i, 2);
    case HOLO_I4: return elem_sign_extend(elem_packed_get(p, i, 4), 4);
    case HOLO_I2: return elem_sign_extend(elem_packed_get(p, i, 2), 2);
    case HOLO_NONE:
    case HOLO_F32:
    case HOLO_STRING:
    case HOLO_F16:
    case HOLO_F64:
    case HOLO_C64:
    case HOLO_C128:
    case HOLO_BF16:
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F4E2M1:
    case HOLO_F8E8M0:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: break;
    }
    return 0;
}

double hg_elem_get(const holo_tensor *tensor, int64_t i)
{
    const void *p = tensor->data;
    holo_dtype dtype = tensor->dtype;
    if (dtype == HOLO_F32 || dtype == HOLO_C64) return (double)((const float *)p)[i];
    if (dtype == HOLO_F64 || dtype == HOLO_C128) return ((const double *)p)[i];
    if (dtype == HOLO_F16) return hg_elem_from_half(((const uint16_t *)p)[i]);
    if (dtype == HOLO_BF16) return elem_from_bfloat(((const uint16_t *)p)[i]);
    if (dtype == HOLO_U64) return (double)((const uint64_t *)p)[i];
    if (dtype == HOLO_F8E8M0) {
        uint8_t code = ((const uint8_t *)p)[i];
        return code == 255 ? (double)NAN : ldexp(1.0, (int)code - 127);
    }
    const elem_small *small = elem_small_type(dtype);
    if (small == NULL) return (double)hg_elem_get_int(tensor, i);
    uint32_t bits = hg_elem_bits(dtype);
    uint32_t code = bits == 8 ? ((const uint8_t *)p)[i] : elem_packed_get(p, i, bits);
    return elem_small_get(small, code >> (bits - 1), code & ((1u << (bits - 1)) - 1));
}

/* A conversion out of range is undefined in C, so the value is bounded first; NaN becomes 0. */
static int64_t elem_to_int(double value, double low, double high)
{
    if (isnan(value)) return 0;
    if (value <= low) return (int64_t)low;
    if (value >= high) return high >= 9223372036854775807.0 ? INT64_MAX : (int64_t)high;
    return (int64_t)value;
}

static uint64_t elem_to_u64(double value)
{
    if (!(value > 0)) return 0;
    return value >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)value;
}

static uint8_t elem_to_scale(double value)
{
    if (isnan(value)) return 255;
    if (!(value > 0)) return 0;
    int64_t exponent = elem_to_int(nearbyint(log2(value)), -127, 127);
    return (uint8_t)(exponent + 127);
}

static void elem_set_float(holo_tensor *tensor, int64_t i, double value)
{
    void *p = tensor->data;
    holo_dtype dtype = tensor->dtype;
    const elem_small *small = elem_small_type(dtype);
    uint32_t bits = hg_elem_bits(dtype);
    if (dtype == HOLO_F32 || dtype == HOLO_C64)
        ((float *)p)[i] = (float)value;
    else if (dtype == HOLO_F64 || dtype == HOLO_C128)
        ((double *)p)[i] = value;
    else if (dtype == HOLO_F16)
        ((uint16_t *)p)[i] = hg_elem_to_half(value);
    else if (dtype == HOLO_BF16)
        ((uint16_t *)p)[i] = elem_to_bfloat(value);
    else if (dtype == HOLO_F8E8M0)
        ((uint8_t *)p)[i] = elem_to_scale(value);
    else if (small != NULL && bits == 8)
        ((uint8_t *)p)[i] = (uint8_t)elem_small_set(small, bits, value);
    else if (small != NULL)
        elem_packed_set(p, i, bits, elem_small_set(small, bits, value));
}

void hg_elem_set(holo_tensor *tensor, int64_t i, double value)
{
    void *p = tensor->data;
    switch (tensor->dtype) {
    case HOLO_U8: ((uint8_t *)p)[i] = (uint8_t)elem_to_int(value, 0, 255); break;
    case HOLO_BOOL: ((uint8_t *)p)[i] = value != 0; break;
    case HOLO_I8: ((int8_t *)p)[i] = (int8_t)elem_to_int(value, -128, 127); break;
    case HOLO_U16: ((uint16_t *)p)[i] = (uint16_t)elem_to_int(value, 0, 65535); break;
    case HOLO_I16: ((int16_t *)p)[i] = (int16_t)elem_to_int(value, -32768, 32767); break;
    case HOLO_I32: ((int32_t *)p)[i] = (int32_t)elem_to_int(value, INT32_MIN, INT32_MAX); break;
    case HOLO_I64: ((int64_t *)p)[i] = elem_to_int(value, -0x1p63, 0x1p63); break;
    case HOLO_U32: ((uint32_t *)p)[i] = (uint32_t)elem_to_int(value, 0, UINT32_MAX); break;
    case HOLO_U64: ((uint64_t *)p)[i] = elem_to_u64(value); break;
    case HOLO_U4: elem_packed_set(p, i, 4, (uint32_t)elem_to_int(value, 0, 15)); break;
    case HOLO_U2: elem_packed_set(p, i, 2, (uint32_t)elem_to_int(value, 0, 3)); break;
    case HOLO_I4: elem_packed_set(p, i, 4, (uint32_t)elem_to_int(value, -8, 7)); break;
    case HOLO_I2: elem_packed_set(p, i, 2, (uint32_t)elem_to_int(value, -2, 1)); break;
    case HOLO_F32:
    case HOLO_F16:
    case HOLO_F64:
    case HOLO_C64:
    case HOLO_C128:
    case HOLO_BF16:
    case HOLO_F8E4M3FN:
    case HOLO_F8E4M3FNUZ:
    case HOLO_F8E5M2:
    case HOLO_F8E5M2FNUZ:
    case HOLO_F4E2M1:
    case HOLO_F8E8M0: elem_set_float(tensor, i, value); break;
    case HOLO_NONE:
    case HOLO_STRING:
    case HOLO_SEQUENCE:
    case HOLO_OPTIONAL:
    case HOLO_MAP: break;
    }
}

void hg_elem_swap(void *data, size_t count, size_t width)
{
    uint8_t *p = data;
    for (size_t i = 0; i < count; i++, p += width)
        for (size_t j = 0; j < width / 2; j++) {
            uint8_t byte = p[j];
            p[j] = p[width - 1 - j];
            p[width - 1 - j] = byte;
        }
}

bool hg_elem_host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}
