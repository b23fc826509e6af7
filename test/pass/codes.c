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

static void codes_recognize_matmul(void)
{
    CHECK_PASS("recognize_quantized",
               "graph g(%x: uint8[n,2]) {\n"
               "  %s = const float32[] {0.5}\n"
               "  %z = const uint8[] {3}\n"
               "  %w = const int8[2,2] {1, 2, 3, 4}\n"
               "  %t = const float32[2] {0.25, 2.0}\n"
               "  %a = DequantizeLinear(%x, %s, %z)\n"
               "  %b = DequantizeLinear(%w, %t) {axis=1}\n"
               "  %y = MatMul(%a, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: uint8[n,2]) {\n"
               "  %w = const int8[2,2] {1, 2, 3, 4}\n"
               "  %z = const uint8[] {3}\n"
               "  %1 = MatMulInteger(%x, %w, %z, _)\n"
               "  %2 = Cast(%1) {to=1}\n"
               "  %3 = const float32[2] {0.125, 1.0}\n"
               "  %y = Mul(%2, %3)\n"
               "  return %y\n"
               "}\n");
}

/* Codes of 16 bits: packed at once. */
static void codes_recognize_wide(void)
{
    CHECK_PASS("recognize_quantized",
               "graph g(%x: int16[n,2]) {\n"
               "  %s = const float32[] {0.5}\n"
               "  %z = const int16[] {0}\n"
               "  %w = const int8[2,2] {1, 2, 3, -128}\n"
               "  %t = const float32[2] {0.25, 2.0}\n"
               "  %a = DequantizeLinear(%x, %s, %z)\n"
               "  %b = DequantizeLinear(%w, %t) {axis=1}\n"
               "  %y = MatMul(%a, %b)\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: int16[n,2]) {\n"
               "  %w = const int8[2,2] {1, 2, 3, -128}\n"
               "  %1 = holo:PackP16I8(%w) {trans=0}\n"
               "  %2 = holo:MatMulP16I16(%x, %1, _, _) {n=dims[2]}\n"
               "  %3 = Cast(%2) {to=1}\n"
               "  %4 = const float32[2] {0.125, 1.0}\n"
               "  %y = Mul(%3, %4)\n"
               "  return %y\n"
               "}\n");
}

/* Zero points and unsigned weights stay with floats. */
static void codes_recognize_wide_not(void)
{
    static const char *const same[] = {
        "graph g(%x: int16[n,2]) {\n"
        "  %s = const float32[] {0.5}\n"
        "  %z = const int16[] {1}\n"
        "  %w = const int8[2,1] {1, 2}\n"
        "  %a = DequantizeLinear(%x, %s, %z)\n"
        "  %b = DequantizeLinear(%w, %s)\n"
        "  %y = MatMul(%a, %b)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: int16[n,2]) {\n"
        "  %s = const float32[] {0.5}\n"
        "  %w = const uint8[2,1] {1, 2}\n"
        "  %a = DequantizeLinear(%x, %s)\n"
        "  %b = DequantizeLinear(%w, %s)\n"
        "  %y = MatMul(%a, %b)\n"
        "  return %y\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_PASS("recognize_quantized", same[i], same[i]);
}

static void codes_recognize_conv(void)
{
    /* The bias is in units of the sum: 0.5 * 0.25. */
    CHECK_PASS("recognize_quantized",
               "graph g(%x: int8[n,1,4]) {\n"
               "  %s = const float32[] {0.5}\n"
               "  %w = const int8[2,1,1] {1, 2}\n"
               "  %t = const float32[] {0.25}\n"
               "  %u = const float32[] {0.125}\n"
               "  %c = const int32[2] {7, 8}\n"
               "  %a = DequantizeLinear(%x, %s)\n"
               "  %b = DequantizeLinear(%w, %t)\n"
               "  %d = DequantizeLinear(%c, %u)\n"
               "  %y = Conv(%a, %b, %d) {strides=[2]}\n"
               "  return %y\n"
               "}\n",
               "graph g(%x: int8[n,1,4]) {\n"
               "  %w = const int8[2,1,1] {1, 2}\n"
               "  %1 = ConvInteger(%x, %w, _, _) {strides=[2]}\n"
               "  %c = const int32[2] {7, 8}\n"
               "  %2 = const int64[1] {1}\n"
               "  %3 = Unsqueeze(%c, %2)\n"
               "  %4 = Add(%1, %3)\n"
               "  %5 = Cast(%4) {to=1}\n"
               "  %6 = const float32[] {0.125}\n"
               "  %y = Mul(%5, %6)\n"
               "  return %y\n"
               "}\n");
}

/* Scales by row of the left side, weights that are not constant, other types: as they are. */
static void codes_recognize_not(void)
{
    static const char *const same[] = {
        "graph g(%x: uint8[2,2]) {\n"
        "  %s = const float32[2] {0.5, 0.25}\n"
        "  %w = const int8[2,1] {1, 2}\n"
        "  %t = const float32[] {0.25}\n"
        "  %a = DequantizeLinear(%x, %s) {axis=0}\n"
        "  %b = DequantizeLinear(%w, %t)\n"
        "  %y = MatMul(%a, %b)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: uint8[2,2], %w: int8[2,1]) {\n"
        "  %s = const float32[] {0.5}\n"
        "  %a = DequantizeLinear(%x, %s)\n"
        "  %b = DequantizeLinear(%w, %s)\n"
        "  %y = MatMul(%a, %b)\n"
        "  return %y\n"
        "}\n",
        "graph g(%x: uint16[2,2]) {\n"
        "  %w = const int8[2,1] {1, 2}\n"
        "  %s = const float32[] {0.5}\n"
        "  %a = DequantizeLinear(%x, %s)\n"
        "  %b = DequantizeLinear(%w, %s)\n"
        "  %y = MatMul(%a, %b)\n"
        "  return %y\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_PASS("recognize_quantized", same[i], same[i]);
}

const hg_test_case hg_tests_pass_codes[] = {
    {"pack", codes_pack},
    {"pack_not", codes_pack_not},
    {"recognize_matmul", codes_recognize_matmul},
    {"recognize_wide", codes_recognize_wide},
    {"recognize_wide_not", codes_recognize_wide_not},
    {"recognize_conv", codes_recognize_conv},
    {"recognize_not", codes_recognize_not},
    {0},
};
