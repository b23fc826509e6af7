/* norm.c - normalisations of com.microsoft against sums in f64. */
#include "op/microsoft/compute.h"

enum { NORM_ROWS = 6, NORM_SIZE = 8, NORM_ALL = NORM_ROWS * NORM_SIZE };

/* Rows of x normalised; without mean when is_rms. mean and inverse may be NULL. */
static void norm_rows(const double *x, const double *scale, const double *bias, bool is_rms,
                      double epsilon, double *y, double *mean, double *inverse)
{
    for (int r = 0; r < NORM_ROWS; r++) {
        double m = 0, v = 0;
        for (int i = 0; i < NORM_SIZE; i++)
            m += x[r * NORM_SIZE + i] / NORM_SIZE;
        for (int i = 0; i < NORM_SIZE; i++)
            v += pow(x[r * NORM_SIZE + i] - (is_rms ? 0 : m), 2) / NORM_SIZE;
        mean[r] = m;
        inverse[r] = 1.0 / sqrt(v + epsilon);
        for (int i = 0; i < NORM_SIZE; i++)
            y[r * NORM_SIZE + i] =
                (x[r * NORM_SIZE + i] - (is_rms ? 0 : m)) * inverse[r] * scale[i] +
                (bias == NULL ? 0 : bias[i]);
    }
}

static void norm_skip(void)
{
    static const struct {
        const char *node;
        bool is_rms, has_bias, has_shift, is_spread;
        double epsilon;
    } table[] = {
        {"%y, %y1, %y2, %y3 = com.microsoft:SkipLayerNormalization(%x, %s, %g)", false, false,
         false, false, 1e-12},
        {"%y, %y1, %y2, %y3 = com.microsoft:SkipLayerNormalization(%x, %t, %g, %h, %b) "
         "{epsilon=0.25}",
         false, true, true, true, 0.25},
        {"%y, %y1, %y2, %y3 = com.microsoft:SkipSimplifiedLayerNormalization(%x, %s, %g)", true,
         false, false, false, 1e-12},
        {"%y, %y1, %y2, %y3 = com.microsoft:SkipSimplifiedLayerNormalization(%x, %t, %g, %b) "
         "{epsilon=0.25}",
         true, true, false, true, 0.25},
    };
    for (size_t k = 0; k < HG_COUNT(table); k++) {
        compute *c = compute_new();
        double x[NORM_ALL], s[NORM_ALL], t[NORM_ALL / 2], g[NORM_SIZE], h[NORM_SIZE], b[NORM_SIZE];
        double sum[NORM_ALL], y[NORM_ALL], mean[NORM_ROWS], inverse[NORM_ROWS];
        compute_rand(c, "x", "float32[2,3,8]", x, NORM_ALL);
        compute_rand(c, "s", "float32[2,3,8]", s, NORM_ALL);
        compute_rand(c, "t", "float32[3,8]", t, NORM_ALL / 2);
        compute_rand(c, "g", "float32[8]", g, NORM_SIZE);
        compute_rand(c, "h", "float32[8]", h, NORM_SIZE);
        compute_rand(c, "b", "float32[8]", b, NORM_SIZE);
        for (int i = 0; i < NORM_ALL; i++)
            sum[i] = x[i] + (table[k].is_spread ? t[i % (NORM_ALL / 2)] : s[i]) +
                     (table[k].has_bias ? b[i % NORM_SIZE] : 0);
        norm_rows(sum, g, table[k].has_shift ? h : NULL, table[k].is_rms, table[k].epsilon, y, mean,
                  inverse);
        if (compute_run(c, table[k].node, 4)) {
            compute_near(c, 0, y, NORM_ALL, 1e-5);
            compute_near(c, 1, mean, NORM_ROWS, 1e-6);
            compute_near(c, 2, inverse, NORM_ROWS, 1e-5);
            compute_near(c, 3, sum, NORM_ALL, 1e-6);
        }
        compute_free(c);
    }
}

static void norm_simplified(void)
{
    static const struct {
        const char *node, *scale;
    } table[] = {
        {"%y, %y1 = SimplifiedLayerNormalization(%x, %g) {epsilon=0.125}", "float32[8]"},
        {"%y, %y1 = com.microsoft:SimplifiedLayerNormalization(%x, %g) {epsilon=0.125, axis=-1}",
         "float32[8]"},
        {"%y, %y1 = SimplifiedLayerNormalization(%x, %g) {epsilon=0.125}", "float16[8]"},
    };
    for (size_t k = 0; k < HG_COUNT(table); k++) {
        compute *c = compute_new();
        double x[NORM_ALL], g[NORM_SIZE] = {1, -1, 0.5, 2, 0, 0.25, -0.5, 1.5}, y[NORM_ALL];
        double mean[NORM_ROWS], inverse[NORM_ROWS];
        compute_rand(c, "x", "float32[6,8]", x, NORM_ALL);
        compute_const(c, "g", table[k].scale, g, NORM_SIZE);
        norm_rows(x, g, NULL, true, 0.125, y, mean, inverse);
        if (compute_run(c, table[k].node, 2)) {
            compute_near(c, 0, y, NORM_ALL, k == 2 ? 2e-3 : 1e-5); /* f16 rounds to 2^-11 */
            compute_near(c, 1, inverse, NORM_ROWS, 1e-5);
        }
        compute_free(c);
    }
}

static void norm_embed(void)
{
    for (int has_all = 0; has_all < 2; has_all++) {
        compute *c = compute_new();
        double w[NORM_ROWS], s[NORM_ROWS], p[NORM_ROWS], words[5 * 8], places[4 * 8], kinds[2 * 8];
        double g[8], b[8], sum[NORM_ALL], y[NORM_ALL], mean[NORM_ROWS], inverse[NORM_ROWS];
        const double mask[] = {1, 1, 0, 1, 0, 0}, none[] = {0, 0}, lengths[] = {2, 1};
        compute_codes(c, "w", "int32[2,3]", w, NORM_ROWS, 0, 5);
        compute_codes(c, "s", "int32[2,3]", s, NORM_ROWS, 0, 2);
        compute_codes(c, "p", "int32[2,3]", p, NORM_ROWS, 0, 4);
        compute_rand(c, "words", "float32[5,8]", words, 40);
        compute_rand(c, "places", "float32[4,8]", places, 32);
        compute_rand(c, "kinds", "float32[2,8]", kinds, 16);
        compute_rand(c, "g", "float32[8]", g, 8);
        compute_rand(c, "b", "float32[8]", b, 8);
        compute_const(c, "m", "int32[2,3]", mask, NORM_ROWS);
        for (int i = 0; i < NORM_ALL; i++) {
            const int r = i / 8, k = i % 8, place = has_all ? (int)p[r] : r % 3;
            sum[i] = words[(int)w[r] * 8 + k] + places[place * 8 + k];
            if (has_all) sum[i] += kinds[(int)s[r] * 8 + k];
        }
        norm_rows(sum, g, b, false, 1e-12, y, mean, inverse);
        const char *all = "%y, %y1, %y2 = com.microsoft:EmbedLayerNormalization(%w, %s, %words, "
                          "%places, %kinds, %g, %b, %m, %p)";
        const char *few = "%y, %y1, %y2 = com.microsoft:EmbedLayerNormalization(%w, _, %words, "
                          "%places, _, %g, %b)";
        if (compute_run(c, has_all ? all : few, 3)) {
            compute_near(c, 0, y, NORM_ALL, 1e-4);
            compute_near(c, 1, has_all ? lengths : none, 2, 0);
            compute_near(c, 2, sum, NORM_ALL, 1e-6);
        }
        compute_free(c);
    }
}

static void norm_groups(void)
{
    for (int last = 0; last < 2; last++) {
        compute *c = compute_new();
        double x[2 * 4 * 6], g[4], b[4], y[2 * 4 * 6];
        compute_rand(c, "x", last ? "float32[2,2,3,4]" : "float32[2,4,2,3]", x, 48);
        compute_rand(c, "g", "float32[4]", g, 4);
        compute_rand(c, "b", "float32[4]", b, 4);
        for (int n = 0; n < 2; n++)
            for (int group = 0; group < 2; group++) {
                double m = 0, v = 0;
                int at[12];
                for (int i = 0; i < 12; i++) {
                    const int channel = group * 2 + i / 6, place = i % 6;
                    at[i] = n * 24 + (last ? place * 4 + channel : channel * 6 + place);
                    m += x[at[i]] / 12;
                }
                for (int i = 0; i < 12; i++)
                    v += pow(x[at[i]] - m, 2) / 12;
                for (int i = 0; i < 12; i++) {
                    const int channel = group * 2 + i / 6;
                    const double z = (x[at[i]] - m) / sqrt(v + 0.01) * g[channel] + b[channel];
                    y[at[i]] = last ? z / (1 + exp(-z)) : z;
                }
            }
        if (compute_run(c,
                        last ? "%y = com.microsoft:GroupNorm(%x, %g, %b) {groups=2, activation=1, "
                               "epsilon=0.01}"
                             : "%y = com.microsoft:GroupNorm(%x, %g, %b) {groups=2, activation=0, "
                               "epsilon=0.01, channels_last=0}",
                        1))
            compute_near(c, 0, y, 48, 1e-5);
        compute_free(c);
    }
}

static void norm_types(void)
{
    static const rule table[] = {
        {"%x: float32[b,s,8], %k: float32[1,s,8], %g: float32[8]",
         "%y = com.microsoft:SkipLayerNormalization(%x, %k, %g)", "float32[b,s,8]"},
        {"%x: float32[b,s,8], %k: float32[2,s,4], %g: float32[8]",
         "%y = com.microsoft:SkipLayerNormalization(%x, %k, %g)", "!dimension 2 of input 1"},
        {"%x: float32[b,s,8], %k: float32[b,1,8], %g: float32[8]",
         "%y = com.microsoft:SkipLayerNormalization(%x, %k, %g)", "float32[b,s,8]"},
        {"%x: float32[b,s,8], %k: float32[b,s,8], %g: float32[7]",
         "%y = com.microsoft:SkipSimplifiedLayerNormalization(%x, %k, %g)",
         "!dimension 0 of input 2"},
        {"%x: float32[8], %k: float32[8], %g: float32[8]",
         "%y = com.microsoft:SkipLayerNormalization(%x, %k, %g)", "!input 0 has rank 1"},
        {"%x: float16[n,8], %g: float32[8]", "%y = SimplifiedLayerNormalization(%x, %g)",
         "float32[n,8]"},
        {"%x: float32[n,h,w,6], %g: float32[6], %b: float32[6]",
         "%y = com.microsoft:GroupNorm(%x, %g, %b) {groups=4, activation=0}",
         "!groups is 4, expected a divisor"},
        {"%x: float32[n,h,w,6], %g: float32[6], %b: float32[6]",
         "%y = com.microsoft:GroupNorm(%x, %g, %b) {groups=3, activation=2}", "!activation is 2"},
        {"%w: int32[b,s], %k: int32[b,s], %t: float32[9,8], %p: float32[9,8], %g: float32[8]",
         "%y = com.microsoft:EmbedLayerNormalization(%w, %k, %t, %p, _, %g, %g)",
         "!segments and their table"},
        {"%w: int32[b,s], %t: float32[9,8], %p: float32[9,7], %g: float32[8]",
         "%y = com.microsoft:EmbedLayerNormalization(%w, _, %t, %p, _, %g, %g)",
         "!input 3 does not have the width"},
    };
    RULES(table);
}

const hg_test_case hg_tests_op_microsoft_norm[] = {
    {"skip", norm_skip},     {"simplified", norm_simplified}, {"embed", norm_embed},
    {"groups", norm_groups}, {"types", norm_types},           {0},
};
