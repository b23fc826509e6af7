/* half.c - narrow formats against their definition: every code, every rounding boundary. */
#include "base/half.h"
#include "test.h"

#include <math.h>

/* ---- formats as data ------------------------------------------------------------------------- */

typedef struct half_format {
    const char *name;
    int exponent, mantissa, bias;
    bool is_uz;       /* no infinity, no negative zero: code 80 is NaN */
    bool has_inf;     /* the largest exponent is infinity and NaN */
    uint32_t nan_low; /* magnitude codes from here on are NaN (after infinity, if there is one) */
    float (*widen)(uint32_t code);
    uint32_t (*narrow)(float x, bool saturate);
} half_format;

#define WRAP(name, type)                                                                           \
    static float half_widen_##name(uint32_t c)                                                     \
    {                                                                                              \
        return hg_##name##_to_f32((type)c);                                                        \
    }
#define WRAP_NARROW(name)                                                                          \
    static uint32_t half_narrow_##name(float x, bool saturate)                                     \
    {                                                                                              \
        return hg_f32_to_##name(x, saturate);                                                      \
    }
#define WRAP_PLAIN(name)                                                                           \
    static uint32_t half_narrow_##name(float x, bool saturate)                                     \
    {                                                                                              \
        (void)saturate;                                                                            \
        return hg_f32_to_##name(x);                                                                \
    }
WRAP(f16, uint16_t)
WRAP(bf16, uint16_t)
WRAP(f8e4m3fn, uint8_t)
WRAP(f8e4m3fnuz, uint8_t)
WRAP(f8e5m2, uint8_t)
WRAP(f8e5m2fnuz, uint8_t)
WRAP(f4e2m1, uint8_t)
WRAP_PLAIN(f16)
WRAP_PLAIN(bf16)
WRAP_PLAIN(f4e2m1)
WRAP_NARROW(f8e4m3fn)
WRAP_NARROW(f8e4m3fnuz)
WRAP_NARROW(f8e5m2)
WRAP_NARROW(f8e5m2fnuz)

static const half_format half_formats[] = {
    {"f16", 5, 10, 15, false, true, 0x7c01, half_widen_f16, half_narrow_f16},
    {"bf16", 8, 7, 127, false, true, 0x7f81, half_widen_bf16, half_narrow_bf16},
    {"f8e4m3fn", 4, 3, 7, false, false, 0x7f, half_widen_f8e4m3fn, half_narrow_f8e4m3fn},
    {"f8e4m3fnuz", 4, 3, 8, true, false, 0x80, half_widen_f8e4m3fnuz, half_narrow_f8e4m3fnuz},
    {"f8e5m2", 5, 2, 15, false, true, 0x7d, half_widen_f8e5m2, half_narrow_f8e5m2},
    {"f8e5m2fnuz", 5, 2, 16, true, false, 0x80, half_widen_f8e5m2fnuz, half_narrow_f8e5m2fnuz},
    {"f4e2m1", 2, 1, 1, false, false, 8, half_widen_f4e2m1, half_narrow_f4e2m1},
};

/* Value of a magnitude code by the definition; infinity and NaN are handled by the caller. */
static double half_value(const half_format *f, uint32_t code)
{
    int e = (int)(code >> f->mantissa), m = (int)(code & ((1u << f->mantissa) - 1));
    if (e == 0) return ldexp(m, 1 - f->bias - f->mantissa);
    return ldexp((1 << f->mantissa) + m, e - f->bias - f->mantissa);
}

static uint32_t half_inf(const half_format *f)
{
    return f->has_inf ? f->nan_low - 1 : f->nan_low;
}

static void half_every_code(void)
{
    for (size_t k = 0; k < HG_COUNT(half_formats); k++) {
        const half_format *f = &half_formats[k];
        uint32_t sign = 1u << (f->exponent + f->mantissa);
        for (uint32_t c = 0; c < 2 * sign; c++) {
            uint32_t magnitude = c & (sign - 1);
            float x = f->widen(c);
            bool is_nan = f->is_uz ? c == sign : magnitude >= f->nan_low;
            if (is_nan) {
                if (!CHECK(isnan(x))) return;
                continue;
            }
            double expected = half_value(f, magnitude);
            if (f->has_inf && magnitude == half_inf(f)) expected = (double)INFINITY;
            if (!CHECK(fabs((double)x) == expected && (signbit(x) != 0) == (c >= sign))) return;
            if (!CHECK_EQ_INT(f->narrow(x, false), c)) return;
        }
    }
}

/* Between neighbours: the middle goes to the even one, what is beside it to the nearer. */
static void half_rounds_to_even(void)
{
    for (size_t k = 0; k < HG_COUNT(half_formats); k++) {
        const half_format *f = &half_formats[k];
        uint32_t sign = 1u << (f->exponent + f->mantissa), last = half_inf(f) - 1;
        if (f->is_uz) last = sign - 1;
        for (uint32_t c = 0; c < last; c++) {
            float low = (float)half_value(f, c), high = (float)half_value(f, c + 1);
            float middle = (float)((half_value(f, c) + half_value(f, c + 1)) / 2);
            uint32_t even = c % 2 == 0 ? c : c + 1;
            uint32_t minus = f->is_uz && even == 0 ? 0 : sign | even;
            bool ok = CHECK_EQ_INT(f->narrow(middle, true), even) &&
                      CHECK_EQ_INT(f->narrow(-middle, true), minus) &&
                      CHECK_EQ_INT(f->narrow(nextafterf(middle, low), true), c) &&
                      CHECK_EQ_INT(f->narrow(nextafterf(middle, high), true), c + 1);
            if (!ok) return;
        }
    }
}

static void half_overflow(void)
{
    for (size_t k = 0; k < HG_COUNT(half_formats); k++) {
        const half_format *f = &half_formats[k];
        uint32_t sign = 1u << (f->exponent + f->mantissa), last = half_inf(f) - 1;
        if (f->is_uz) last = sign - 1;
        if (f->exponent == 2) last = 7;
        double step = half_value(f, last) - half_value(f, last - 1);
        float most = (float)half_value(f, last), over = (float)(half_value(f, last) + step / 2);
        bool saturates = f->exponent + f->mantissa <= 7;
        uint32_t beyond = f->exponent == 2 ? last : f->is_uz ? sign : last + 1;
        CHECK_EQ_INT(f->narrow(nextafterf(over, 0.0f), false), last);
        CHECK_EQ_INT(f->narrow(nextafterf(over, INFINITY), false), beyond);
        CHECK_EQ_INT(f->narrow(INFINITY, false), beyond);
        CHECK_EQ_INT(f->narrow(-INFINITY, false), f->is_uz ? sign : sign | beyond);
        if (!saturates) continue;
        CHECK_EQ_INT(f->narrow(nextafterf(over, INFINITY), true), last);
        CHECK_EQ_INT(f->narrow(INFINITY, true), last);
        CHECK_EQ_INT(f->narrow(-INFINITY, true), sign | last);
        CHECK_EQ_INT(f->narrow(3.0e38f, true), last);
        CHECK_EQ_INT(f->narrow(-most, true), sign | last);
    }
}

static void half_nan_and_tiny(void)
{
    for (size_t k = 0; k < HG_COUNT(half_formats); k++) {
        const half_format *f = &half_formats[k];
        uint32_t sign = 1u << (f->exponent + f->mantissa);
        for (int saturate = 0; saturate < 2; saturate++) {
            if (f->exponent == 2) /* f4 has no NaN: the largest number */
                CHECK_EQ_INT(f->narrow(NAN, saturate != 0), 7);
            else
                CHECK(isnan(f->widen(f->narrow(NAN, saturate != 0))));
        }
        float tiny = f->exponent == 8 ? 0x1p-149f : 0x1p-126f;
        CHECK_EQ_INT(f->narrow(tiny, true), 0);
        CHECK_EQ_INT(f->narrow(-tiny, true), f->is_uz ? 0 : sign);
        CHECK_EQ_INT(f->narrow(-0.0f, true), f->is_uz ? 0 : sign);
    }
    /* As F16C: quiet, sign and high bits kept. */
    CHECK_EQ_INT(hg_f32_to_f16(hg_f32_from_bits(0xff802000)), 0xfe01);
    CHECK_EQ_INT(hg_bits_f32(hg_f16_to_f32(0x7c01)), 0x7fc02000);
    CHECK_EQ_INT(hg_f32_to_bf16(hg_f32_from_bits(0x7f800001)), 0x7fc0);
}

static void half_e8m0(void)
{
    for (uint32_t c = 0; c < 255; c++) {
        float x = hg_f8e8m0_to_f32((uint8_t)c);
        CHECK((double)x == ldexp(1, (int)c - 127));
        CHECK_EQ_INT(hg_f32_to_f8e8m0(x, false), c);
        CHECK_EQ_INT(hg_f32_to_f8e8m0(-x, false), c);
        float above = nextafterf(x, INFINITY);
        CHECK_EQ_INT(hg_f32_to_f8e8m0(above, false), c + 1);
        CHECK_EQ_INT(hg_f32_to_f8e8m0(above, true), c < 254 ? c + 1 : 254);
    }
    CHECK(isnan(hg_f8e8m0_to_f32(255)));
    CHECK_EQ_INT(hg_f32_to_f8e8m0(0.0f, true), 0);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(0x1p-149f, true), 0);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(INFINITY, true), 254);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(INFINITY, false), 255);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(0.0f, false), 255);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(0x1p-128f, false), 255);
    CHECK_EQ_INT(hg_f32_to_f8e8m0(NAN, true), 255);
}

static void half_packed(void)
{
    uint8_t data[4] = {0xff, 0xff, 0xff, 0xff};
    for (int64_t i = 0; i < 8; i++)
        hg_packed_set(data, i, 4, (uint8_t)(i + 0x50)); /* only the low bits count */
    CHECK_EQ_INT(data[0], 0x10);
    CHECK_EQ_INT(data[3], 0x76);
    for (int64_t i = 0; i < 8; i++)
        CHECK_EQ_INT(hg_packed_get(data, i, 4), i);
    hg_packed_set(data, 5, 2, 2);
    CHECK_EQ_INT(data[1], 0x3a);
    CHECK_EQ_INT(hg_packed_get(data, 5, 2), 2);
    for (int c = 0; c < 16; c++)
        CHECK_EQ_INT(hg_i4_to_i32((uint8_t)(c | 0xf0)), c < 8 ? c : c - 16);
    for (int c = 0; c < 4; c++)
        CHECK_EQ_INT(hg_i2_to_i32((uint8_t)c), c < 2 ? c : c - 4);
}

const hg_test_case hg_tests_base_half[] = {
    {"every_code", half_every_code},
    {"rounds_to_even", half_rounds_to_even},
    {"overflow", half_overflow},
    {"nan_and_tiny", half_nan_and_tiny},
    {"e8m0", half_e8m0},
    {"packed", half_packed},
    {0},
};
