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

enum { NBITS_N = 3, NBITS_K = 40, NBITS_BLOCK = 16, NBITS_BLOCKS = 3 };

/* Zero points: none, packed, floats; scales of rank 1 or 2; k in blocks or in groups; f16. */
static void nbits_product(void)
{
    static const struct {
        const char *inputs, *a, *table;
        bool has_zeros, is_packed, has_groups, has_bias;
    } table[] = {
        {"%a, %b, %s", "float32[2,40]", "[3,3]", false, false, false, false},
        {"%a, %b, %s, %z", "float32[2,40]", "[3,3]", true, true, false, false},
        {"%a, %b, %s, %f, _, %c", "float32[2,40]", "[9]", true, false, false, true},
        {"%a, %b, %s, %z, %g", "float32[2,40]", "[3,3]", true, true, true, false},
        {"%a, %b, %s, _, %g, %c", "float32[2,40]", "[9]", false, false, true, true},
    };
    for (size_t i = 0; i < HG_COUNT(table); i++)
        for (int bits = 2; bits <= 8; bits *= 2) {
            compute *c = compute_new();
            double a[2 * NBITS_K], b[NBITS_N * 48], s[9], z[9], f[9], g[48], bias[3], y[6];
            const int row = NBITS_BLOCKS * NBITS_BLOCK * bits / 8, zero_row = (3 * bits + 7) / 8;
            char type[64], node[256];
            compute_rand(c, "a", table[i].a, a, 2 * NBITS_K);
            snprintf(type, sizeof type, "uint8[3,3,%d]", NBITS_BLOCK * bits / 8);
            compute_codes(c, "b", type, b, NBITS_N * row, 0, 256);
            snprintf(type, sizeof type, "float32%s", table[i].table);
            compute_rand(c, "s", type, s, 9);
            compute_rand(c, "f", type, f, 9);
            snprintf(type, sizeof type, "uint8[3,%d]", zero_row);
            compute_codes(c, "z", type, z, 3 * zero_row, 0, 256);
            compute_codes(c, "g", "int32[48]", g, 48, 0, 3);
            compute_rand(c, "c", "float32[3]", bias, 3);
            for (int k = 0; k < 2 * NBITS_N; k++) {
                const int n = k % NBITS_N;
                y[k] = table[i].has_bias ? bias[n] : 0;
                for (int j = 0; j < NBITS_K; j++) {
                    const int block = table[i].has_groups ? (int)g[j] : j / NBITS_BLOCK;
                    const double zero = !table[i].has_zeros ? (double)(1 << (bits - 1))
                                        : table[i].is_packed
                                            ? nbits_code(z + n * zero_row, bits, block)
                                            : f[n * 3 + block];
                    y[k] += a[k / NBITS_N * NBITS_K + j] *
                            (nbits_code(b + n * row, bits, j) - zero) * s[n * 3 + block];
                }
            }
            snprintf(node, sizeof node,
                     "%%y = com.microsoft:MatMulNBits(%s) {K=40, N=3, bits=%d, block_size=16}",
                     table[i].inputs, bits);
            if (compute_run(c, node, 1)) compute_near(c, 0, y, 6, bits == 8 ? 2e-3 : 2e-4);
            compute_free(c);
        }
}

static void nbits_rules(void)
{
    static const rule table[] = {
        {"%a: float16[n,s,64], %b: uint8[8,2,16], %s: float16[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=64, N=8, block_size=32}", "float16[n,s,8]"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=60, N=8, block_size=32}",
         "!the last axis of A does not have K = 60"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=64, N=9, block_size=32}",
         "!dimension 0 of B is not 9"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {N=8, block_size=32}", "!K is 0"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=64, N=8, block_size=32, bits=5}",
         "!bits is 5"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,3]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=64, N=8, block_size=32}",
         "!input 2 is not 8 x 2"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2], %z: uint8[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s, %z) {K=64, N=8, block_size=32}",
         "!input 3 is not 8 x 1"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s) {K=64, N=8, block_size=32, "
         "weight_prepacked=1}",
         "!weight_prepacked is 1"},
        {"%a: float32[n,64], %b: uint8[8,2,16], %s: float32[8,2], %c: float32[7]",
         "%y = com.microsoft:MatMulNBits(%a, %b, %s, _, _, %c) {K=64, N=8, block_size=32}",
         "!the bias does not have N = 8"},
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
    {"product", nbits_product},
    {"rules", nbits_rules},
    {0},
};
