/* gelu.c - the Gelu family of com.microsoft against the error function of the C library. */
#include "op/microsoft/compute.h"

static double gelu_exact(double x)
{
    return x * 0.5 * (1.0 + erf(x / sqrt(2.0)));
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double gelu_quick(double x)
{
    return x / (1.0 + exp(-1.702 * x));
}

static double gelu_quick_half(double x)
{
    return x / (1.0 + exp(-0.5 * x));
}

static void gelu_values(void)
{
    static const struct {
        const char *node;
        double (*f)(double);
        bool has_bias;
    } table[] = {
        {"%y = com.microsoft:Gelu(%x)", gelu_exact, false},
        {"%y = com.microsoft:BiasGelu(%x, %b)", gelu_exact, true},
        {"%y = com.microsoft:FastGelu(%x)", gelu_tanh, false},
        {"%y = com.microsoft:FastGelu(%x, %b)", gelu_tanh, true},
        {"%y = com.microsoft:QuickGelu(%x)", gelu_quick, false},
        {"%y = com.microsoft:QuickGelu(%x) {alpha=0.5}", gelu_quick_half, false},
    };
    for (size_t k = 0; k < HG_COUNT(table); k++) {
        compute *c = compute_new();
        double x[12], b[4], y[12];
        compute_rand(c, "x", "float32[3,4]", x, 12);
        compute_rand(c, "b", "float32[4]", b, 4);
        for (int i = 0; i < 12; i++)
            y[i] = table[k].f(x[i] + (table[k].has_bias ? b[i % 4] : 0.0));
        if (compute_run(c, table[k].node, 1)) compute_near(c, 0, y, 12, 1e-6);
        compute_free(c);
    }
}

static void gelu_split(void)
{
    compute *c = compute_new();
    double x[12], b[6], y[6];
    compute_rand(c, "x", "float32[2,6]", x, 12);
    compute_rand(c, "b", "float32[6]", b, 6);
    for (int i = 0; i < 6; i++) {
        const int r = i / 3, k = i % 3;
        y[i] = (x[r * 6 + k] + b[k]) * gelu_exact(x[r * 6 + 3 + k] + b[3 + k]);
    }
    if (compute_run(c, "%y = com.microsoft:BiasSplitGelu(%x, %b)", 1))
        compute_near(c, 0, y, 6, 1e-6);
    compute_free(c);
}

static void gelu_types(void)
{
    static const rule table[] = {
        {"%x: float16[n,0]", "%y = com.microsoft:Gelu(%x)", "float16[n,0]"},
        {"%x: float32[n,4], %b: float32[5]", "%y = com.microsoft:BiasGelu(%x, %b)",
         "!do not broadcast"},
        {"%x: float32[n,4], %b: float16[4]", "%y = com.microsoft:FastGelu(%x, %b)", "!must agree"},
        {"%x: int32[n,4]", "%y = com.microsoft:QuickGelu(%x)", "!element type int32"},
        {"%x: float32[n,s,2*d], %b: float32[2*d]", "%y = com.microsoft:BiasSplitGelu(%x, %b)",
         "float32[n,s,d]"},
        {"%x: float32[n,5], %b: float32[5]", "%y = com.microsoft:BiasSplitGelu(%x, %b)",
         "!expected an even number"},
        {"%x: float32[n,6], %b: float32[4]", "%y = com.microsoft:BiasSplitGelu(%x, %b)",
         "!size of the last axis"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_microsoft_gelu[] = {
    {"values", gelu_values},
    {"split", gelu_split},
    {"types", gelu_types},
    {0},
};
