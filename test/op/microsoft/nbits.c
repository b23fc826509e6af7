/* nbits.c - operators of com.microsoft on codes of 2, 4 and 8 bits against the numbers behind. */
#include "op/microsoft/compute.h"

/* Code i of a row of bytes. */
static double nbits_code(const double *bytes, int bits, int i)
{
    return (double)((int)bytes[i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1));
}

static void nbits_gather(void)
{
    enum { ROWS = 5, SIZE = 32, BLOCK = 16, BLOCKS = 2, PICKS = 3 };
    for (int bits = 2; bits <= 8; bits *= 2)
        for (int has_zeros = 0; has_zeros < 2; has_zeros++) {
            compute *c = compute_new();
            double data[ROWS * SIZE], zeros[ROWS * BLOCKS], scales[ROWS * BLOCKS], y[PICKS * SIZE];
            const double pick[] = {4, 0, -2};
            const int row = SIZE * bits / 8, zero_row = (BLOCKS * bits + 7) / 8;
            char type[64], node[256];
            snprintf(type, sizeof type, "uint8[%d,%d]", ROWS, row);
            compute_codes(c, "d", type, data, ROWS * row, 0, 256);
            snprintf(type, sizeof type, "uint8[%d,%d]", ROWS, zero_row);
            compute_codes(c, "z", type, zeros, ROWS * zero_row, 0, 256);
            compute_rand(c, "s", "float32[5,2]", scales, ROWS * BLOCKS);
            compute_const(c, "i", "int64[1,3]", pick, PICKS);
            for (int i = 0; i < PICKS * SIZE; i++) {
                const int r = ((int)pick[i / SIZE] + ROWS) % ROWS, k = i % SIZE, block = k / BLOCK;
                const double zero = has_zeros ? nbits_code(zeros + r * zero_row, bits, block)
                                              : (double)(1 << (bits - 1));
                y[i] = (nbits_code(data + r * row, bits, k) - zero) * scales[r * BLOCKS + block];
            }
            snprintf(node, sizeof node,
                     "%%y = com.microsoft:GatherBlockQuantized(%%d, %%i, %%s%s) {bits=%d, "
                     "block_size=16}",
                     has_zeros ? ", %z" : "", bits);
            if (compute_run(c, node, 1)) compute_near(c, 0, y, PICKS * SIZE, 1e-4);
            compute_free(c);
        }
}

/* 4-bit types: zero points are 0 unless given; either axis may be the one that is picked from. */
static void nbits_gather_types(void)
{
    for (int axis = 0; axis < 2; axis++) {
        compute *c = compute_new();
        double data[3 * 20], scales[6], y[40];
        compute_codes(c, "d", "int4[3,20]", data, 60, -8, 8);
        compute_rand(c, "s", "float32[3,2]", scales, 6);
        compute_const(c, "i", "int32[2]", (double[]){2, 1}, 2);
        for (int i = 0; i < (axis == 0 ? 40 : 6); i++) {
            const int r = axis == 0 ? 2 - i / 20 : i / 2, k = axis == 0 ? i % 20 : 2 - i % 2;
            y[i] = data[r * 20 + k] * scales[r * 2 + k / 16];
        }
        if (compute_run(c,
                        axis == 0 ? "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) "
                                    "{block_size=16, quantize_axis=-1}"
                                  : "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) "
                                    "{block_size=16, gather_axis=1}",
                        1))
            compute_near(c, 0, y, axis == 0 ? 40 : 6, 1e-5);
        compute_free(c);
    }
}

static void nbits_rules(void)
{
    static const rule table[] = {
        {"%d: uint8[n,16], %i: int64[b,s], %s: float16[n,2]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) {block_size=16}", "float16[b,s,32]"},
        {"%d: uint8[n,16], %i: int64[b,s], %s: float32[n,2]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) {block_size=16, bits=3}",
         "!bits is 3"},
        {"%d: uint8[n,16], %i: int64[b,s], %s: float32[n,2]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) {block_size=24}",
         "!block_size is 24"},
        {"%d: uint8[n,16], %i: int64[b,s], %s: float32[n,3]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) {block_size=16}",
         "!dimension 1 of the scales"},
        {"%d: uint8[n,16], %i: int64[b,s], %s: float32[n,2], %z: uint8[n,2]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s, %z) {block_size=16}",
         "!dimension 1 of the zero points"},
        {"%d: uint8[n,16], %i: int64[b,s], %s: float32[n,2]",
         "%y = com.microsoft:GatherBlockQuantized(%d, %i, %s) {block_size=16, gather_axis=1}",
         "!expected the last axis and another one"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_microsoft_nbits[] = {
    {"gather", nbits_gather},
    {"gather_types", nbits_gather_types},
    {"rules", nbits_rules},
    {0},
};
