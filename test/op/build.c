/* build.c - what rewrites build: constants. */
#include "graph/fixture.h"
#include "op/op.h"

#include <math.h>

/* The bits of a scalar, as an integer. */
static uint64_t build_bits(holo_dtype dtype, double value)
{
    fixture *f = fixture_parse("graph(%x: float32[2]) {\n%y = Neg(%x)\nreturn %y as \"y\"\n}\n");
    hg_build b;
    uint64_t bits = 0;
    hg_build_init(&b, &f->g, hg_graph_region(&f->g, HG_REGION_MAIN)->first);
    hg_value_id id = hg_build_scalar(&b, dtype, value);
    if (CHECK_OK(b.status, &f->error))
        memcpy(&bits, hg_graph_value(&f->g, id)->constant->data, hg_dtype_bits(dtype) / 8);
    fixture_free(f);
    return bits;
}

static void build_scalars(void)
{
    CHECK(build_bits(HOLO_U64, 0x1p63) == UINT64_C(1) << 63);
    CHECK(build_bits(HOLO_U64, 0x1p64 - 2048) == UINT64_MAX - 2047);
    CHECK(build_bits(HOLO_U64, 0x1p64) == UINT64_MAX);
    CHECK(build_bits(HOLO_U64, 0x1p63 - 1024) == (UINT64_C(1) << 63) - 1024);
    CHECK(build_bits(HOLO_I64, -0x1p63) == UINT64_C(1) << 63);
    CHECK(build_bits(HOLO_I64, 0x1p63) == INT64_MAX);
    CHECK(build_bits(HOLO_I64, -0x1p70) == UINT64_C(1) << 63);
    CHECK(build_bits(HOLO_I64, -1) == UINT64_MAX);
    CHECK(build_bits(HOLO_I32, -2) == 0xfffffffe);
    CHECK(build_bits(HOLO_U8, 255) == 255);
    CHECK(build_bits(HOLO_I64, (double)NAN) == 0);
    CHECK(build_bits(HOLO_F16, 1) == 0x3c00);
}

const hg_test_case hg_tests_op_build[] = {
    {"scalars", build_scalars},
    {0},
};
