/* product.c - fused products and convolutions of com.microsoft, in floats and in 8 bits. */
#include "op/microsoft/compute.h"

enum { PRODUCT_M = 3, PRODUCT_K = 4, PRODUCT_N = 5 };

/* FusedMatMul on [2, M, K] and [2, K, N], stored in every order the attributes allow. */
static void product_matmul(void)
{
    for (int flags = 0; flags < 16; flags++) {
        const int ta = flags & 1, tb = flags >> 1 & 1, ba = flags >> 2 & 1, bb = flags >> 3 & 1;
        compute *c = compute_new();
        double a[24], b[40], y[2 * PRODUCT_M * PRODUCT_N] = {0};
        char type[2][64], node[256];
        /* sizes of the stored axes: batch, rows, columns; the batch is axis 1 when it is turned */
        const int ra = ta ? PRODUCT_K : PRODUCT_M, ca = ta ? PRODUCT_M : PRODUCT_K;
        const int rb = tb ? PRODUCT_N : PRODUCT_K, cb = tb ? PRODUCT_K : PRODUCT_N;
        snprintf(type[0], sizeof type[0], "float32[%d,%d,%d]", ba ? ra : 2, ba ? 2 : ra, ca);
        snprintf(type[1], sizeof type[1], "float32[%d,%d,%d]", bb ? rb : 2, bb ? 2 : rb, cb);
        compute_rand(c, "a", type[0], a, 2 * ra * ca);
        compute_rand(c, "b", type[1], b, 2 * rb * cb);
        for (int i = 0; i < 2 * PRODUCT_M * PRODUCT_N * PRODUCT_K; i++) {
            const int k = i % PRODUCT_K, n = i / PRODUCT_K % PRODUCT_N;
            const int m = i / PRODUCT_K / PRODUCT_N % PRODUCT_M;
            const int batch = i / PRODUCT_K / PRODUCT_N / PRODUCT_M;
            const int i0 = ta ? k : m, i1 = ta ? m : k, j0 = tb ? n : k, j1 = tb ? k : n;
            const double p = a[(ba ? i0 * 2 + batch : batch * ra + i0) * ca + i1];
            const double q = b[(bb ? j0 * 2 + batch : batch * rb + j0) * cb + j1];
            y[(batch * PRODUCT_M + m) * PRODUCT_N + n] += 0.5 * p * q;
        }
        snprintf(node, sizeof node,
                 "%%y = com.microsoft:FusedMatMul(%%a, %%b) {transA=%d, transB=%d, "
                 "transBatchA=%d, transBatchB=%d, alpha=0.5}",
                 ta, tb, ba, bb);
        if (compute_run(c, node, 1)) compute_near(c, 0, y, 2 * PRODUCT_M * PRODUCT_N, 1e-6);
        compute_free(c);
    }
}

static double product_activate(const char *name, double x)
{
    if (strcmp(name, "Relu") == 0) return x > 0 ? x : 0;
    if (strcmp(name, "Tanh") == 0) return tanh(x);
    if (strcmp(name, "LeakyRelu") == 0) return x > 0 ? x : 0.25 * x;
    if (strcmp(name, "HardSigmoid") == 0) return fmin(1, fmax(0, 0.25 * x + 0.75));
    if (strcmp(name, "Clip") == 0) return fmin(0.75, fmax(0.25, x));
    return x;
}

static void product_gemm(void)
{
    static const struct {
        const char *activation, *more;
    } table[] = {{"Relu", ""},
                 {"Tanh", ""},
                 {"LeakyRelu", ", activation_alpha=0.25"},
                 {"HardSigmoid", ", activation_beta=0.75, activation_alpha=0.25"}};
    for (size_t t = 0; t < HG_COUNT(table); t++) {
        compute *c = compute_new();
        double a[12], b[20], bias[5], y[15];
        char node[256];
        compute_rand(c, "a", "float32[3,4]", a, 12);
        compute_rand(c, "b", "float32[5,4]", b, 20);
        compute_rand(c, "c", "float32[5]", bias, 5);
        for (int i = 0; i < 15; i++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[i / 5 * 4 + k] * b[i % 5 * 4 + k];
            y[i] = product_activate(table[t].activation, 2 * sum + 0.5 * bias[i % 5]);
        }
        snprintf(node, sizeof node,
                 "%%y = com.microsoft:FusedGemm(%%a, %%b, %%c) {transB=1, alpha=2.0, beta=0.5, "
                 "activation=\"%s\"%s}",
                 table[t].activation, table[t].more);
        if (compute_run(c, node, 1)) compute_near(c, 0, y, 15, 1e-6);
        compute_free(c);
    }
}

/* 1 x 1 windows, so that the formula is a product. */
static void product_conv(void)
{
    static const struct {
        const char *activation, *more;
    } table[] = {{"Relu", ""},
                 {"LeakyRelu", ", activation_params=[0.25]"},
                 {"HardSigmoid", ", activation_params=[0.25, 0.75]"},
                 {"Clip", ", activation_params=[0.25, 0.75]"}};
    for (size_t t = 0; t < HG_COUNT(table); t++) {
        compute *c = compute_new();
        double x[8], w[6], bias[3], z[12], y[12];
        char node[256];
        compute_rand(c, "x", "float32[1,2,2,2]", x, 8);
        compute_rand(c, "w", "float32[3,2,1,1]", w, 6);
        compute_rand(c, "b", "float32[3]", bias, 3);
        compute_rand(c, "z", "float32[1,3,2,2]", z, 12);
        for (int i = 0; i < 12; i++)
            y[i] = product_activate(table[t].activation, x[i % 4] * w[i / 4 * 2] +
                                                             x[4 + i % 4] * w[i / 4 * 2 + 1] +
                                                             bias[i / 4] + z[i]);
        snprintf(node, sizeof node,
                 "%%y = com.microsoft:FusedConv(%%x, %%w, %%b, %%z) {activation=\"%s\"%s}",
                 table[t].activation, table[t].more);
        if (compute_run(c, node, 1)) compute_near(c, 0, y, 12, 1e-6);
        compute_free(c);
    }
}

static void product_integers(void)
{
    for (int per_column = 0; per_column < 2; per_column++) {
        compute *c = compute_new();
        double a[12], b[20], zb[5], sb[5], bias[5], y[15];
        const double za[] = {7}, sa[] = {0.5};
        compute_codes(c, "a", "uint8[3,4]", a, 12, 0, 256);
        compute_codes(c, "b", "int8[4,5]", b, 20, -128, 128);
        compute_codes(c, "zb", per_column ? "int8[5]" : "int8[1]", zb, per_column ? 5 : 1, -9, 9);
        compute_rand(c, "sb", per_column ? "float32[5]" : "float32[1]", sb, per_column ? 5 : 1);
        compute_rand(c, "bias", "float32[5]", bias, 5);
        compute_const(c, "za", "uint8[1]", za, 1);
        compute_const(c, "sa", "float32[1]", sa, 1);
        for (int i = 0; i < 15; i++) {
            double sum = 0;
            const int column = per_column ? i % 5 : 0;
            for (int k = 0; k < 4; k++)
                sum += (a[i / 5 * 4 + k] - 7) * (b[k * 5 + i % 5] - zb[column]);
            y[i] = sum * 0.5 * sb[column] + bias[i % 5];
        }
        if (compute_run(c,
                        "%y = com.microsoft:MatMulIntegerToFloat(%a, %b, %sa, %sb, %za, %zb, "
                        "%bias)",
                        1))
            compute_near(c, 0, y, 15, 2e-3);
        compute_free(c);
    }
}

/* A has elements that 8 bits hold exactly: -1, 0 .. 1.55 in steps of 0.01. */
static void product_dynamic(void)
{
    compute *c = compute_new();
    double a[8] = {-1, 1.55, 0, 0.25, 0.5, -0.5, 0.75, 1}, b[8], y[4];
    const double scale[] = {0.125}, zero[] = {3};
    compute_const(c, "a", "float32[2,4]", a, 8);
    compute_codes(c, "b", "uint8[4,2]", b, 8, 0, 256);
    compute_const(c, "s", "float32[]", scale, 1);
    compute_const(c, "z", "uint8[]", zero, 1);
    for (int i = 0; i < 4; i++) {
        y[i] = 0;
        for (int k = 0; k < 4; k++)
            y[i] += a[i / 2 * 4 + k] * (b[k * 2 + i % 2] - 3) * 0.125;
    }
    if (compute_run(c, "%y = com.microsoft:DynamicQuantizeMatMul(%a, %b, %s, %z)", 1))
        compute_near(c, 0, y, 4, 1e-3);
    compute_free(c);
}

static void product_qgemm(void)
{
    for (int is_quantized = 0; is_quantized < 2; is_quantized++) {
        compute *c = compute_new();
        double a[12], b[20], bias[5], y[15];
        const double za[] = {120}, sa[] = {0.25}, zb[] = {-3}, sb[] = {0.5}, sy[] = {64},
                     zy[] = {9};
        compute_codes(c, "a", "uint8[4,3]", a, 12, 0, 256);
        compute_codes(c, "b", "int8[5,4]", b, 20, -128, 128);
        compute_codes(c, "c", "int32[5]", bias, 5, -500, 500);
        compute_const(c, "za", "uint8[]", za, 1);
        compute_const(c, "sa", "float32[]", sa, 1);
        compute_const(c, "zb", "int8[]", zb, 1);
        compute_const(c, "sb", "float32[]", sb, 1);
        compute_const(c, "sy", "float32[]", sy, 1);
        compute_const(c, "zy", "int8[]", zy, 1);
        for (int i = 0; i < 15; i++) {
            double sum = bias[i % 5];
            for (int k = 0; k < 4; k++)
                sum += (a[k * 3 + i / 5] - 120) * (b[i % 5 * 4 + k] + 3);
            y[i] = sum * 2 * 0.25 * 0.5;
            if (is_quantized) y[i] = fmin(127, fmax(-128, nearbyint(y[i] / 64) + 9));
        }
        if (compute_run(c,
                        is_quantized ? "%y = com.microsoft:QGemm(%a, %sa, %za, %b, %sb, %zb, %c, "
                                       "%sy, %zy) {transA=1, transB=1, alpha=2.0}"
                                     : "%y = com.microsoft:QGemm(%a, %sa, %za, %b, %sb, %zb, %c) "
                                       "{transA=1, transB=1, alpha=2.0}",
                        1))
            compute_near(c, 0, y, 15, is_quantized ? 0 : 1e-2);
        compute_free(c);
    }
}

static void product_types(void)
{
    static const rule table[] = {
        {"%a: float32[b,k,m], %b: float32[b,n,k]",
         "%y = com.microsoft:FusedMatMul(%a, %b) {transA=1, transB=1}", "float32[b,m,n]"},
        {"%a: float32[m,b,k], %b: float32[b,k,n]",
         "%y = com.microsoft:FusedMatMul(%a, %b) {transBatchA=1}", "float32[b,m,n]"},
        {"%a: float32[4], %b: float32[b,4,n]", "%y = com.microsoft:FusedMatMul(%a, %b)",
         "float32[b,n]"},
        {"%a: float32[2,3], %b: float32[2,3]", "%y = com.microsoft:FusedMatMul(%a, %b)",
         "!has 3 columns but"},
        {"%a: float32[2,3], %b: float32[3,4]",
         "%y = com.microsoft:FusedGemm(%a, %b) {activation=\"Sine\"}", "!activation is \"Sine\""},
        {"%a: float32[2,3], %b: float32[4,4]",
         "%y = com.microsoft:FusedGemm(%a, %b) {activation=\"Relu\"}", "!has 3 columns but"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3]",
         "%y = com.microsoft:FusedConv(%x, %w) {activation=\"Clip\", activation_params=[1.0]}",
         "!activation_params has 1 numbers, expected 2"},
        {"%x: float32[1,3,9,9], %w: float32[8,3,3,3], %z: float32[1,8,9,9]",
         "%y = com.microsoft:FusedConv(%x, %w, _, %z) {activation=\"Relu\"}",
         "!dimension 2 of Z differs"},
        {"%a: uint8[n,4], %b: int8[4,5], %s: float32[]",
         "%y = com.microsoft:MatMulIntegerToFloat(%a, %b, %s, %s)", "float32[n,5]"},
        {"%a: uint8[n,4], %b: int8[4,5], %s: float32[], %z: int8[]",
         "%y = com.microsoft:MatMulIntegerToFloat(%a, %b, %s, %s, %z)", "!must agree"},
        {"%a: float32[n,4], %b: int8[4,5], %s: float32[5]",
         "%y = com.microsoft:DynamicQuantizeMatMul(%a, %b, %s)", "float32[n,5]"},
        {"%a: float32[n,4], %b: float32[5,4]",
         "%y = com.microsoft:CDist(%a, %b) {metric=\"cosine\"}", "!metric is 'cosine'"},
        {"%a: float32[n,4], %b: float32[5,4]", "%y = com.microsoft:CDist(%a, %b)", "float32[n,5]"},
        {"%a: float32[n,4], %b: float32[5,3]", "%y = com.microsoft:CDist(%a, %b)",
         "!B has 3 columns, expected 4 as in A"},
        {"%x: float32[n,4], %s: float32[], %z: uint16[]",
         "%y = com.microsoft:QuantizeLinear(%x, %s, %z)", "uint16[n,4]"},
        {"%x: uint16[n,4], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:DequantizeLinear(%x, %s, %z)", "!must agree"},
        {"%a: uint8[n,4], %s: float32[], %z: uint8[], %b: uint8[4,5], %q: float32[]",
         "%y = com.microsoft:QGemm(%a, %s, %z, %b, %s, %z, _, %q)", "!must come together"},
    };
    RULES(table);
}

static void product_distances(void)
{
    for (int root = 0; root < 2; root++) {
        compute *c = compute_new();
        double x[12], v[20], y[15];
        compute_rand(c, "x", "float32[3,4]", x, 12);
        compute_rand(c, "v", "float32[5,4]", v, 20);
        for (int i = 0; i < 15; i++) {
            y[i] = 0;
            for (int k = 0; k < 4; k++)
                y[i] += pow(x[i / 5 * 4 + k] - v[i % 5 * 4 + k], 2);
            if (root) y[i] = sqrt(y[i]);
        }
        if (compute_run(c,
                        root ? "%y = com.microsoft:CDist(%x, %v) {metric=\"euclidean\"}"
                             : "%y = com.microsoft:CDist(%x, %v)",
                        1))
            compute_near(c, 0, y, 15, 1e-6);
        compute_free(c);
    }
}

/* Those of ONNX, with a scale for each column. */
static void product_codes(void)
{
    compute *c = compute_new();
    static const double scale[4] = {0.25, 0.5, 0.125, 1}, zero[4] = {3, 128, 0, 255};
    double x[12], q[12], y[12];
    compute_rand(c, "x", "float32[3,4]", x, 12);
    compute_const(c, "s", "float32[4]", scale, 4);
    compute_const(c, "z", "uint8[4]", zero, 4);
    for (int i = 0; i < 12; i++) {
        q[i] = fmin(255, fmax(0, rint(x[i] / scale[i % 4]) + zero[i % 4]));
        y[i] = (q[i] - zero[i % 4]) * scale[i % 4];
    }
    if (compute_run(c,
                    "%y1 = com.microsoft:QuantizeLinear(%x, %s, %z)\n"
                    "%y = com.microsoft:DequantizeLinear(%y1, %s, %z) {axis=1}",
                    2)) {
        compute_near(c, 0, y, 12, 0);
        compute_near(c, 1, q, 12, 0);
    }
    compute_free(c);
}

const hg_test_case hg_tests_op_microsoft_product[] = {
    {"distances", product_distances}, {"codes", product_codes},
    {"matmul", product_matmul},       {"gemm", product_gemm},
    {"conv", product_conv},           {"integers", product_integers},
    {"dynamic", product_dynamic},     {"qgemm", product_qgemm},
    {"types", product_types},         {0},
};
