/* codes.c - passes that make exact integer products of quantised ones. */
#include "rewrite.h"
#include "test.h"

static void codes_pack(void)
{
    /* No pair of codes is above 128 together. */
    CHECK_PASS("pack_codes",
               "graph g(%x: uint8[n,4], %z: uint8[]) {\n"
               "  %w = const int8[4,2] {127, 1, 1, 127, -64, 64, 64, -64}\n"
               "  %y = MatMulInteger(%x, %w, %z)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: uint8[n,4], %z: uint8[]) {\n"
               "  %w = const int8[4,2] {127, 1, 1, 127, -64, 64, 64, -64}\n"
               "  %1 = holo:PackP16I8(%w) {trans=0}\n"
               "  %y = holo:MatMulP16I8(%x, %1, %z, _) {n=dims[2], pairs=1}\n"
               "  return %y\n"
               "}\n");
    /* One pair is; a Transpose is read through. */
    CHECK_PASS("pack_codes",
               "graph g(%x: int8[n,2]) {\n"
               "  %w = const int8[3,2] {127, 2, 0, 0, 0, 0}\n"
               "  %t = Transpose(%w) {perm=[1,0]}\n"
               "  %y = MatMulInteger(%x, %t)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: int8[n,2]) {\n"
               "  %w = const int8[3,2] {127, 2, 0, 0, 0, 0}\n"
               "  %1 = holo:PackP16I8(%w) {trans=1}\n"
               "  %y = holo:MatMulP16I8(%x, %1, _, _) {n=dims[3], pairs=0}\n"
               "  return %y\n"
               "}\n");
    /* Unsigned codes become signed, and so do their zero points; those of rows stay. */
    CHECK_PASS("pack_codes",
               "graph g(%x: uint8[m,2], %z: uint8[m,1]) {\n"
               "  %w = const uint8[2,2] {128, 255, 127, 0}\n"
               "  %b = const uint8[2] {128, 130}\n"
               "  %y = MatMulInteger(%x, %w, %z, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: uint8[m,2], %z: uint8[m,1]) {\n"
               "  %w = const uint8[2,2] {128, 255, 127, 0}\n"
               "  %2 = const int32[2] {0, 2}\n"
               "  %1 = holo:PackP16I8(%w) {trans=0}\n"
               "  %y = holo:MatMulP16I8(%x, %1, %z, %2) {n=dims[2], pairs=0}\n"
               "  return %y\n"
               "}\n");
}

/* Codes that are not constant, zero points that vary in another way, and batches stay. */
static void codes_pack_not(void)
{
    static const char *const same[] = {
        "graph g(%x: uint8[n,4], %w: int8[4,2]) { %y = MatMulInteger(%x, %w) return %y }",
        "graph g(%x: uint8[b,n,2], %z: uint8[n,1]) {\n"
        "  %w = const int8[2,1] {1, 2}\n"
        "  %y = MatMulInteger(%x, %w, %z)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: uint8[n,2], %b: int8[]) {\n"
        "  %w = const int8[2,1] {1, 2}\n"
        "  %y = MatMulInteger(%x, %w, _, %b)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: uint8[n,2]) {\n"
        "  %w = const int8[1,2,1] {1, 2}\n"
        "  %y = MatMulInteger(%x, %w)\n"
        "  return %y\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_PASS("pack_codes", same[i], same[i]);
}

const hg_test_case hg_tests_pass_codes[] = {
    {"pack", codes_pack},
    {"pack_not", codes_pack_not},
    {0},
};
