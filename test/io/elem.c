/* elem.c - elements as doubles: small floats against their definitions, packing, saturation. */
#include "test.h"

#include "io/elem.h"
#include "io/tensor.h"

#include <math.h>
#include <string.h>

static double elem_of(holo_dtype dtype, uint32_t code)
{
    uint32_t bits = code;
    holo_tensor t = {.data = &bits, .dtype = dtype};
    return hg_elem_get(&t, 0);
}

static void elem_known_codes(void)
{
    CHECK_NEAR(elem_of(HOLO_F8E4M3FN, 0x7e), 448, 0);
    CHECK_NEAR(elem_of(HOLO_F8E4M3FN, 0x01), 0x1p-9, 0);
    CHECK(isnan(elem_of(HOLO_F8E4M3FN, 0x7f)));
    CHECK(isnan(elem_of(HOLO_F8E4M3FN, 0xff)));
    CHECK_NEAR(elem_of(HOLO_F8E4M3FNUZ, 0x7f), 240, 0);
    CHECK(isnan(elem_of(HOLO_F8E4M3FNUZ, 0x80)));
    CHECK_NEAR(elem_of(HOLO_F8E5M2, 0x7b), 57344, 0);
    CHECK(isinf(elem_of(HOLO_F8E5M2, 0xfc)));
    CHECK(isnan(elem_of(HOLO_F8E5M2, 0x7d)));
    CHECK_NEAR(elem_of(HOLO_F8E5M2FNUZ, 0x7f), 57344, 0);
    CHECK_NEAR(elem_of(HOLO_F8E8M0, 127), 1, 0);
    CHECK_NEAR(elem_of(HOLO_F4E2M1, 0x7), 6, 0);
    CHECK_NEAR(elem_of(HOLO_F4E2M1, 0x9), -0.5, 0);
    CHECK_NEAR(elem_of(HOLO_F16, 0x3c01), 1 + 0x1p-10, 0);
    CHECK_NEAR(elem_of(HOLO_F16, 0x8001), -0x1p-24, 0);
    CHECK_NEAR(elem_of(HOLO_BF16, 0x3f80), 1, 0);
    CHECK_NEAR(elem_of(HOLO_I4, 0x8), -8, 0);
    CHECK_NEAR(elem_of(HOLO_I2, 0x3), -1, 0);
    CHECK_NEAR(elem_of(HOLO_U4, 0xf), 15, 0);
}

/* Every code of every small type survives get and set, NaN apart. */
static void elem_small_roundtrip(void)
{
    static const holo_dtype types[] = {HOLO_F8E4M3FN, HOLO_F8E4M3FNUZ, HOLO_F8E5M2, HOLO_F8E5M2FNUZ,
                                       HOLO_F4E2M1,   HOLO_F8E8M0,     HOLO_I4,     HOLO_U4,
                                       HOLO_I2,       HOLO_U2};
    for (size_t i = 0; i < HG_COUNT(types); i++)
        for (uint32_t code = 0; code < 1u << hg_elem_bits(types[i]); code++) {
            uint8_t data = 0;
            holo_tensor t = {.data = &data, .dtype = types[i]};
            double value = elem_of(types[i], code);
            hg_elem_set(&t, 0, value);
            if (isnan(value))
                CHECK(isnan(hg_elem_get(&t, 0)));
            else
                CHECK_EQ_INT(data, code);
        }
}

static void elem_half_roundtrip(void)
{
    for (uint32_t code = 0; code < 65536; code++) {
        double value = hg_elem_from_half((uint16_t)code);
        if (!isnan(value) && hg_elem_to_half(value) != code)
            CHECK_EQ_INT(hg_elem_to_half(value), code);
    }
    CHECK_EQ_INT(hg_elem_to_half(65519.99), 0x7bff);
    CHECK_EQ_INT(hg_elem_to_half(65520.0), 0x7c00);
    CHECK_EQ_INT(hg_elem_to_half(1 + 0x1p-11), 0x3c00);           /* a tie goes to even */
    CHECK_EQ_INT(hg_elem_to_half(1 + 0x1p-11 + 0x1p-40), 0x3c01); /* no double rounding */
}

static void elem_packed_neighbours(void)
{
    uint8_t data[4] = {0};
    holo_tensor t = {.data = data, .dim = {7}, .rank = 1, .dtype = HOLO_I4};
    for (int64_t i = 0; i < 7; i++)
        hg_elem_set(&t, i, (double)(i - 4));
    for (int64_t i = 0; i < 7; i++)
        CHECK_EQ_INT(hg_elem_get_int(&t, i), i - 4);
    CHECK_EQ_INT(data[0], 0xdc); /* -4 in the low bits, -3 above */
    CHECK_EQ_INT(data[3] >> 4, 0);
}

static void elem_saturates(void)
{
    int64_t wide = 0;
    uint64_t bits = 0;
    int8_t narrow = 0;
    holo_tensor i64 = {.data = &wide, .dtype = HOLO_I64}, u64 = {.data = &bits, .dtype = HOLO_U64};
    holo_tensor i8 = {.data = &narrow, .dtype = HOLO_I8};
    hg_elem_set(&i64, 0, 1e300);
    CHECK_EQ_INT(wide, INT64_MAX);
    hg_elem_set(&i64, 0, -1e300);
    CHECK_EQ_INT(wide, INT64_MIN);
    hg_elem_set(&u64, 0, 1e300);
    CHECK(bits == UINT64_MAX);
    hg_elem_set(&i8, 0, (double)NAN);
    CHECK_EQ_INT(narrow, 0);
    hg_elem_set(&i8, 0, -3.9);
    CHECK_EQ_INT(narrow, -3);
}

const hg_test_case hg_tests_io_elem[] = {
    {"known_codes", elem_known_codes},       {"small_roundtrip", elem_small_roundtrip},
    {"half_roundtrip", elem_half_roundtrip}, {"packed_neighbours", elem_packed_neighbours},
    {"saturates", elem_saturates},           {0},
};
