/* qlinear.c - operators of com.microsoft on 8-bit codes against the same on the numbers behind. */
#include "op/microsoft/compute.h"

#define QLINEAR_CONST                                                                              \
    "%sx = const float32[] {0.0625} %zx = const uint8[] {100} %sy = const float32[1] {0.03125} "   \
    "%zy = const uint8[1] {20}\n"

static double qlinear_code(double y)
{
    return fmin(255, fmax(0, nearbyint(y / 0.03125) + 20));
}

static double qlinear_number(double x)
{
    return (x - 100) * 0.0625;
}

static void qlinear_points(void)
{
    compute *c = compute_new();
    double x[256], y[256];
    for (int i = 0; i < 256; i++)
        x[i] = i;
    compute_const(c, "x", "uint8[256]", x, 256);
    for (int i = 0; i < 256; i++)
        y[i] = qlinear_code(1 / (1 + exp(-qlinear_number(x[i]))));
    if (compute_run(c, QLINEAR_CONST "%y = com.microsoft:QLinearSigmoid(%x, %sx, %zx, %sy, %zy)",
                    1))
        compute_near(c, 0, y, 256, 0);
    for (int i = 0; i < 256; i++)
        y[i] = qlinear_code(qlinear_number(x[i]) * (x[i] < 100 ? 0.25 : 1));
    if (compute_run(c,
                    QLINEAR_CONST
                    "%y = com.microsoft:QLinearLeakyRelu(%x, %sx, %zx, %sy, %zy) {alpha=0.25}",
                    1))
        compute_near(c, 0, y, 256, 0);
    compute_free(c);
}

static void qlinear_pairs(void)
{
    compute *c = compute_new();
    double a[12], b[4], y[12];
    compute_codes(c, "a", "uint8[3,4]", a, 12, 0, 256);
    compute_codes(c, "b", "uint8[4]", b, 4, 0, 256);
    for (int i = 0; i < 12; i++)
        y[i] = qlinear_code(qlinear_number(a[i]) + (b[i % 4] - 20) * 0.03125);
    if (compute_run(
            c, QLINEAR_CONST "%y = com.microsoft:QLinearAdd(%a, %sx, %zx, %b, %sy, %zy, %sy, %zy)",
            1))
        compute_near(c, 0, y, 12, 0);
    for (int i = 0; i < 12; i++)
        y[i] = qlinear_code(qlinear_number(a[i]) * b[i % 4] * 0.03125);
    if (compute_run(
            c, QLINEAR_CONST "%y = com.microsoft:QLinearMul(%a, %sx, %zx, %b, %sy, _, %sy, %zy)",
            1))
        compute_near(c, 0, y, 12, 0);
    for (int i = 0; i < 12; i++) /* [3, 4] and [4, 4]: the second has the result's scale */
        y[i] = qlinear_code(qlinear_number(a[i]));
    double all[24];
    memcpy(all, y, sizeof y);
    memcpy(all + 12, a, sizeof a);
    if (compute_run(c,
                    QLINEAR_CONST
                    "%y = com.microsoft:QLinearConcat(%sy, %zy, %a, %sx, %zx, %a, %sy, "
                    "%zy) {axis=-2}",
                    1))
        compute_near(c, 0, all, 24, 0);
    compute_free(c);
}

static void qlinear_softmax(void)
{
    for (int opset = 12; opset < 14; opset++) {
        compute *c = compute_new();
        double x[12], y[12];
        char node[512];
        compute_codes(c, "x", "uint8[2,3,2]", x, 12, 60, 140);
        for (int i = 0; i < 12; i++) {
            double sum = 0;
            for (int k = 0; k < 12;
                 k++) /* opset 13: along axis 1; before: all but the first axis */
                if (k / 6 == i / 6 && (opset < 13 || k % 2 == i % 2))
                    sum += exp(qlinear_number(x[k]));
            y[i] = qlinear_code(exp(qlinear_number(x[i])) / sum);
        }
        snprintf(node, sizeof node,
                 "%s%%y = com.microsoft:QLinearSoftmax(%%x, %%sx, %%zx, %%sy, %%zy) {opset=%d, "
                 "axis=1}",
                 QLINEAR_CONST, opset);
        if (compute_run(c, node, 1)) compute_near(c, 0, y, 12, 0);
        compute_free(c);
    }
}

static void qlinear_pools(void)
{
    for (int last = 0; last < 2; last++) {
        compute *c = compute_new();
        double x[24], y[16], all[4];
        char node[512];
        compute_codes(c, "x", last ? "uint8[1,3,4,2]" : "uint8[1,2,3,4]", x, 24, 0, 256);
        for (int i = 0; i < 12; i++) { /* windows of 2 x 2, next to each other */
            const int channel = last ? i % 2 : i / 6, row = (last ? i / 2 : i % 6) / 3,
                      column = (last ? i / 2 : i % 6) % 3;
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                const int h = row + k / 2, w = column + k % 2;
                sum +=
                    qlinear_number(x[last ? (h * 4 + w) * 2 + channel : (channel * 3 + h) * 4 + w]);
            }
            y[i] = qlinear_code(sum / 4);
        }
        snprintf(node, sizeof node,
                 "%s%%y = com.microsoft:QLinearAveragePool(%%x, %%sx, %%zx, %%sy, %%zy) "
                 "{kernel_shape=[2,2], channels_last=%d}",
                 QLINEAR_CONST, last);
        if (compute_run(c, node, 1)) compute_near(c, 0, y, 12, 0);
        for (int i = 0; i < 2; i++) {
            double sum = 0;
            for (int k = 0; k < 12; k++)
                sum += qlinear_number(x[last ? k * 2 + i : i * 12 + k]);
            all[i] = qlinear_code(sum / 12);
        }
        snprintf(node, sizeof node,
                 "%s%%y = com.microsoft:QLinearGlobalAveragePool(%%x, %%sx, %%zx, %%sy, %%zy) "
                 "{channels_last=%d}",
                 QLINEAR_CONST, last);
        if (compute_run(c, node, 1)) compute_near(c, 0, all, 2, 0);
        compute_free(c);
    }
}

/* Means half way between two codes: the sum with an odd zero point is what is rounded, and it is
 * divided by the scale, not multiplied with its inverse. */
static void qlinear_half_way(void)
{
    compute *c = compute_new();
    double x[36], y[18];
    for (int i = 0; i < 18; i++) {
        x[2 * i] = i - 9;
        x[2 * i + 1] = i - 8 + i % 3;
        y[i] = nearbyint((x[2 * i] + x[2 * i + 1]) / 2 + 1 + 3);
    }
    compute_const(c, "x", "int8[1,1,18,2]", x, 36);
    if (compute_run(c,
                    "%s = const float32[] {7} %zx = const int8[] {-1} %zy = const int8[] {3}\n"
                    "%y = com.microsoft:QLinearAveragePool(%x, %s, %zx, %s, %zy) "
                    "{kernel_shape=[1,2]}",
                    1))
        compute_near(c, 0, y, 18, 0);
    compute_free(c);
}

static double qlinear_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* One step of LSTM with weights of codes; gates in the order i, o, f, c. */
static void qlinear_lstm(void)
{
    compute *c = compute_new();
    enum { I = 3, H = 2, G = 8 };
    double x[I], w[I * G], r[H * G], bias[2 * G], h[H], cell[H], sw[G], zw[G], sr[1], zr[1];
    double gate[G], y[H], yc[H];
    compute_rand(c, "x", "float32[1,1,3]", x, I);
    compute_codes(c, "w", "uint8[1,3,8]", w, I * G, 0, 256);
    compute_codes(c, "r", "uint8[1,2,8]", r, H * G, 0, 256);
    compute_rand(c, "b", "float32[1,16]", bias, 2 * G);
    compute_rand(c, "h", "float32[1,1,2]", h, H);
    compute_rand(c, "c", "float32[1,1,2]", cell, H);
    for (int i = 0; i < G; i++)
        sw[i] = 0.01 + 0.001 * i;
    for (int i = 0; i < G; i++)
        sw[i] = (double)(float)sw[i];
    compute_const(c, "sw", "float32[1,8]", sw, G);
    compute_codes(c, "zw", "uint8[1,8]", zw, G, 100, 150);
    sr[0] = 0.015625;
    compute_const(c, "sr", "float32[1]", sr, 1);
    compute_codes(c, "zr", "uint8[1]", zr, 1, 100, 150);
    for (int g = 0; g < G; g++) {
        gate[g] = bias[g] + bias[G + g];
        for (int i = 0; i < I; i++)
            gate[g] += x[i] * (w[i * G + g] - zw[g]) * sw[g];
        for (int i = 0; i < H; i++)
            gate[g] += h[i] * (r[i * G + g] - zr[0]) * sr[0];
    }
    for (int i = 0; i < H; i++) {
        yc[i] = qlinear_sigmoid(gate[2 * H + i]) * cell[i] +
                qlinear_sigmoid(gate[i]) * tanh(gate[3 * H + i]);
        y[i] = qlinear_sigmoid(gate[H + i]) * tanh(yc[i]);
    }
    if (compute_run(c,
                    "%y, %y1, %y2 = com.microsoft:DynamicQuantizeLSTM(%x, %w, %r, %b, _, %h, %c, "
                    "_, %sw, %zw, %sr, %zr) {hidden_size=2}",
                    3)) {
        compute_near(c, 0, y, H, 1e-5);
        compute_near(c, 1, y, H, 1e-5);
        compute_near(c, 2, yc, H, 1e-5);
    }
    compute_free(c);
}

static void qlinear_types(void)
{
    static const rule table[] = {
        {"%x: int8[n,4], %s: float32[], %z: int8[]",
         "%y = com.microsoft:QLinearSigmoid(%x, %s, %z, %s)", "int8[n,4]"},
        {"%x: int8[n,4], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearSigmoid(%x, %s, %z, %s)", "!element type uint8"},
        {"%x: int8[n,4], %s: float32[4]", "%y = com.microsoft:QLinearSigmoid(%x, %s, _, %s)",
         "!input 1 is not one number"},
        {"%x: int8[n,4], %w: int8[3,1,4], %s: float32[]",
         "%y = com.microsoft:QLinearAdd(%x, %s, _, %w, %s, _, %s)", "int8[3,n,4]"},
        {"%x: int8[n,4], %w: uint8[4], %s: float32[]",
         "%y = com.microsoft:QLinearMul(%x, %s, _, %w, %s, _, %s)", "!element type uint8"},
        {"%x: uint8[n,4], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearConcat(%s, %z, %x, %s, %z, %x, %s, %z) {axis=0}",
         "uint8[n*2,4]"},
        {"%x: uint8[n,4], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearConcat(%s, %z, %x, %s, %z, %x, %s) {axis=0}",
         "!has 7 inputs, expected 2 and three"},
        {"%x: uint8[n,4], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearSoftmax(%x, %s, %z, %s, %z)", "!opset is 0"},
        {"%x: uint8[n,8,8,3], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearAveragePool(%x, %s, %z, %s, %z) {kernel_shape=[2,2], "
         "strides=[2,2], channels_last=1}",
         "uint8[n,4,4,3]"},
        {"%x: uint8[n,h,w,3], %s: float32[], %z: uint8[]",
         "%y = com.microsoft:QLinearGlobalAveragePool(%x, %s, %z, %s, %z) {channels_last=1}",
         "uint8[n,1,1,3]"},
        {"%x: float32[t,b,3], %w: int8[1,3,8], %r: int8[1,2,8], %s: float32[1], %z: int8[1]",
         "%y = com.microsoft:DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %s, %z, %s, %z) "
         "{hidden_size=2}",
         "float32[t,1,b,2]"},
        {"%x: float32[t,b,3], %w: int8[1,3,8], %r: int8[1,2,8], %s: float32[1,7], %z: int8[1]",
         "%y = com.microsoft:DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %s, %z, %s, %z) "
         "{hidden_size=2}",
         "!input 8 does not fit the weights"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_microsoft_qlinear[] = {
    {"points", qlinear_points},     {"pairs", qlinear_pairs},
    {"softmax", qlinear_softmax},   {"pools", qlinear_pools},
    {"half_way", qlinear_half_way}, {"lstm", qlinear_lstm},
    {"types", qlinear_types},       {0},
};
