/* cast.c - wide numbers to narrow floats are rounded once: at every tie, and next to it on both
 * sides, against codes decoded here. */
#include "control_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* sign, exponent, fraction; codes from 0 to `last` are the finite numbers that are not negative. */
typedef struct cast_type {
    holo_dtype dtype;
    int bits, fraction, bias;
    uint32_t last;
} cast_type;

static const cast_type cast_types[] = {
    {HOLO_F16, 16, 10, 15, 0x7bff}, {HOLO_BF16, 16, 7, 127, 0x7f7f},
    {HOLO_F8E4M3FN, 8, 3, 7, 0x7e}, {HOLO_F8E4M3FNUZ, 8, 3, 8, 0x7f},
    {HOLO_F8E5M2, 8, 2, 15, 0x7b},  {HOLO_F8E5M2FNUZ, 8, 2, 16, 0x7f},
};

static double cast_decode(const cast_type *t, uint32_t code)
{
    const int exponent = (int)(code >> t->fraction);
    const double fraction = (double)(code & ((1U << t->fraction) - 1));
    const double unit = ldexp(1.0, -t->fraction);
    if (exponent == 0) return ldexp(fraction * unit, 1 - t->bias);
    return ldexp(1.0 + fraction * unit, exponent - t->bias);
}

static uint32_t cast_code(const holo_tensor *y, int64_t i, int bits)
{
    return bits == 16 ? ((const uint16_t *)y->data)[i] : ((const uint8_t *)y->data)[i];
}

/* One graph, input of any type: y = Cast(x). */
static bool cast_open(control *f, const char *from, holo_dtype to)
{
    char graph[200];
    snprintf(graph, sizeof graph,
             "graph(%%x: %s[n]) {\n  %%y = Cast(%%x) {to=%d}\n  return %%y\n}\n", from, (int)to);
    return control_open(f, graph, 0, NULL);
}

static void cast_compare(control *f, const cast_type *t, const uint32_t *expected, int64_t n)
{
    if (!control_run(f)) return;
    const holo_tensor y = control_out(f, 0);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t code = cast_code(&y, i, t->bits);
        if (code == expected[i]) continue;
        hg_test_fail(HG_TEST_HERE, "%s: number %lld becomes %x, expected %x",
                     holo_dtype_text(t->dtype), (long long)i, code, expected[i]);
        return;
    }
}

/* The middle between two codes goes to the even one; its neighbours in f64 to the nearer one. */
static void cast_from_f64(void)
{
    for (size_t k = 0; k < HG_COUNT(cast_types); k++) {
        const cast_type *t = &cast_types[k];
        const uint32_t sign = 1U << (t->bits - 1);
        const int64_t n = 6 * (int64_t)t->last;
        double *x = malloc((size_t)n * sizeof *x);
        uint32_t *expected = malloc((size_t)n * sizeof *expected);
        for (uint32_t code = 0; code < t->last; code++) {
            const double low = cast_decode(t, code), high = cast_decode(t, code + 1);
            const double middle = low + (high - low) / 2;
            const double value[3] = {nextafter(middle, low), middle, nextafter(middle, high)};
            const uint32_t even = code % 2 == 0 ? code : code + 1;
            const uint32_t result[3] = {code, even, code + 1};
            for (int i = 0; i < 3; i++) {
                const bool no_negative_zero =
                    result[i] == 0 && (t->dtype == HOLO_F8E4M3FNUZ || t->dtype == HOLO_F8E5M2FNUZ);
                x[code * 6 + (uint32_t)i] = value[i];
                x[code * 6 + 3 + (uint32_t)i] = -value[i];
                expected[code * 6 + (uint32_t)i] = result[i];
                expected[code * 6 + 3 + (uint32_t)i] = no_negative_zero ? 0 : result[i] | sign;
            }
        }
        control f = {0};
        if (cast_open(&f, "float64", t->dtype)) {
            control_set(&f, 0, HOLO_F64, x, 1, n);
            cast_compare(&f, t, expected, n);
        }
        control_close(&f);
        free(x);
        free(expected);
    }
}

/* Around the end of what a type holds, and of what f32 holds. */
static void cast_edges(void)
{
    static const double x[] = {65519.99999999999, 65520, 1e300, -1e300, INFINITY, 1e-300, -1e-300};
    static const uint16_t f16[] = {0x7bff, 0x7c00, 0x7c00, 0xfc00, 0x7c00, 0, 0x8000};
    static const uint16_t bf16[] = {0x4780, 0x4780, 0x7f80, 0xff80, 0x7f80, 0, 0x8000};
    for (int k = 0; k < 2; k++) {
        control f = {0};
        if (cast_open(&f, "float64", k == 0 ? HOLO_F16 : HOLO_BF16)) {
            control_set(&f, 0, HOLO_F64, (void *)(uintptr_t)x, 1, HG_COUNT(x));
            if (control_run(&f))
                CHECK_MEM(control_out(&f, 0).data, k == 0 ? f16 : bf16, sizeof f16);
        }
        control_close(&f);
    }
}

/* Ties of bfloat16 among integers that f32, or even f64, does not hold. */
static void cast_from_integers(void)
{
    static const char *const names[] = {"int64", "uint64", "int32"};
    static const holo_dtype types[] = {HOLO_I64, HOLO_U64, HOLO_I32};
    const cast_type *t = &cast_types[1];
    for (size_t k = 0; k < HG_COUNT(types); k++) {
        int64_t x[400];
        int32_t x32[400];
        uint32_t expected[400];
        int64_t n = 0;
        const int top = types[k] == HOLO_I32 ? 30 : types[k] == HOLO_I64 ? 62 : 63;
        for (int power = 25; power <= top; power++) {
            const uint32_t code = (uint32_t)(power + 127) << 7 | (uint32_t)power % 2;
            const uint64_t unit = UINT64_C(1) << (power - 7);
            const uint64_t middle = (UINT64_C(1) << power) + (code % 2) * unit + unit / 2;
            const uint32_t result[3] = {code, code % 2 == 0 ? code : code + 1, code + 1};
            for (int i = 0; i < 6; i++) {
                const uint64_t m = middle - 1 + (uint64_t)(i % 3);
                if (i >= 3 && types[k] == HOLO_U64) continue;
                x[n] = (int64_t)(i < 3 ? m : 0 - m);
                x32[n] = (int32_t)x[n];
                expected[n++] = result[i % 3] | (i < 3 ? 0 : 0x8000);
            }
        }
        control f = {0};
        if (cast_open(&f, names[k], HOLO_BF16)) {
            control_set(&f, 0, types[k], types[k] == HOLO_I32 ? (void *)x32 : (void *)x, 1, n);
            cast_compare(&f, t, expected, n);
        }
        control_close(&f);
    }
}

const hg_test_case hg_tests_runtime_cast[] = {
    {"from_f64", cast_from_f64},
    {"edges", cast_edges},
    {"from_integers", cast_from_integers},
    {0},
};
