/* dtype.c - facts about element types. */
#include "base/dtype.h"
#include "test.h"

#include <string.h>

static const struct {
    holo_dtype dtype;
    const char *text;
    uint32_t bits;
    bool is_float, is_signed, is_unsigned;
} dtype_facts[] = {
    {HOLO_F32, "float32", 32, true, false, false},
    {HOLO_F64, "float64", 64, true, false, false},
    {HOLO_F16, "float16", 16, true, false, false},
    {HOLO_BF16, "bfloat16", 16, true, false, false},
    {HOLO_F8E4M3FN, "float8e4m3fn", 8, true, false, false},
    {HOLO_F8E8M0, "float8e8m0", 8, true, false, false},
    {HOLO_F4E2M1, "float4e2m1", 4, true, false, false},
    {HOLO_I8, "int8", 8, false, true, false},
    {HOLO_I64, "int64", 64, false, true, false},
    {HOLO_I4, "int4", 4, false, true, false},
    {HOLO_I2, "int2", 2, false, true, false},
    {HOLO_U8, "uint8", 8, false, false, true},
    {HOLO_U2, "uint2", 2, false, false, true},
    {HOLO_BOOL, "bool", 8, false, false, false},
    {HOLO_STRING, "string", 128, false, false, false},
    {HOLO_C128, "complex128", 128, false, false, false},
    {HOLO_SEQUENCE, "sequence", 0, false, false, false},
};

static void dtype_table(void)
{
    for (size_t i = 0; i < HG_COUNT(dtype_facts); i++) {
        holo_dtype t = dtype_facts[i].dtype;
        CHECK_STR(holo_dtype_text(t), dtype_facts[i].text);
        CHECK_EQ_INT(hg_dtype_from_text(dtype_facts[i].text, strlen(dtype_facts[i].text)), t);
        CHECK_EQ_INT(hg_dtype_bits(t), dtype_facts[i].bits);
        CHECK_EQ_INT(hg_dtype_is_float(t), dtype_facts[i].is_float);
        CHECK_EQ_INT(hg_dtype_is_signed_int(t), dtype_facts[i].is_signed);
        CHECK_EQ_INT(hg_dtype_is_unsigned_int(t), dtype_facts[i].is_unsigned);
        CHECK(hg_dtype_is_valid((uint32_t)t));
    }
    CHECK_STR(holo_dtype_text(HOLO_NONE), "none");
    CHECK_STR(holo_dtype_text((holo_dtype)40), "unknown");
    CHECK(!hg_dtype_is_valid(0) && !hg_dtype_is_valid(40) && !hg_dtype_is_valid(UINT32_MAX));
    CHECK_EQ_INT(hg_dtype_from_text("float", 5), HOLO_NONE);
    CHECK_EQ_INT(hg_dtype_from_text("float32x", 7), HOLO_F32);
}

/* Every element type is in exactly one of the families. */
static void dtype_families(void)
{
    for (uint32_t t = 1; t < 64; t++) {
        holo_dtype dtype = (holo_dtype)t;
        int families = hg_dtype_is_float(dtype) + hg_dtype_is_signed_int(dtype) +
                       hg_dtype_is_unsigned_int(dtype) + hg_dtype_in(dtype, HG_TYPES_BOOL) +
                       hg_dtype_in(dtype, HG_TYPES_STRING) + hg_dtype_in(dtype, HG_TYPES_COMPLEX);
        CHECK_EQ_INT(families, hg_dtype_is_valid(t) ? 1 : 0);
        CHECK_EQ_INT(hg_dtype_in(dtype, HG_TYPES_ANY), hg_dtype_is_valid(t));
    }
    CHECK(!hg_dtype_in(HOLO_SEQUENCE, HG_TYPES_ANY));
    CHECK(!hg_dtype_in(HOLO_NONE, HG_TYPES_ANY));
}

static void dtype_bytes(void)
{
    size_t bytes;
    CHECK(hg_dtype_bytes(HOLO_F32, 3, &bytes) && bytes == 12);
    CHECK(hg_dtype_bytes(HOLO_I4, 3, &bytes) && bytes == 2);
    CHECK(hg_dtype_bytes(HOLO_U2, 5, &bytes) && bytes == 2);
    CHECK(hg_dtype_bytes(HOLO_STRING, 2, &bytes) && bytes == 2 * sizeof(holo_string));
    CHECK(hg_dtype_bytes(HOLO_SEQUENCE, 2, &bytes) && bytes == 2 * sizeof(holo_tensor));
    CHECK(hg_dtype_bytes(HOLO_F64, 0, &bytes) && bytes == 0);
    CHECK(!hg_dtype_bytes(HOLO_F32, -1, &bytes));
    CHECK(!hg_dtype_bytes(HOLO_F64, INT64_MAX, &bytes));
    CHECK(!hg_dtype_bytes(HOLO_F64, INT64_MAX / 2, &bytes));
}

static void dtype_tensors(void)
{
    holo_tensor t = {.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}};
    CHECK_EQ_INT(holo_tensor_count(&t), 12);
    CHECK_EQ_INT(holo_tensor_bytes(&t), 48);
    t.rank = 0;
    CHECK_EQ_INT(holo_tensor_count(&t), 1);
    t.rank = 2;
    t.dim[1] = -1;
    CHECK_EQ_INT(holo_tensor_count(&t), -1);
    CHECK(holo_tensor_bytes(&t) == SIZE_MAX);
    t.dim[0] = t.dim[1] = INT64_C(1) << 32;
    CHECK_EQ_INT(holo_tensor_count(&t), -1);
    t.dim[0] = INT64_MAX;
    t.dim[1] = 1;
    CHECK(holo_tensor_bytes(&t) == SIZE_MAX);
    t.rank = 9;
    CHECK_EQ_INT(holo_tensor_count(&t), -1);
    t.rank = -1;
    CHECK_EQ_INT(holo_tensor_count(&t), -1);
}

const hg_test_case hg_tests_base_dtype[] = {
    {"table", dtype_table},
    {"families", dtype_families},
    {"bytes", dtype_bytes},
    {"tensors", dtype_tensors},
    {0},
};
