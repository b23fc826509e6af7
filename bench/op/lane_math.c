/* lane_math.c - largest error of each float function of lane code, by trying floats: every 64th, or
 * every one with the argument 1 (most of an hour). The hash of all results must not depend on
 * compiler or flags. */
#include "isa/lane_math.h"

#include <stdio.h>
#include <stdlib.h>

static double bench_oracle(double x)
{
    return 1 / (1 + exp(-x));
}

#define FUNCTIONS(X)                                                                               \
    X(exp, exp)                                                                                    \
    X(log, log)                                                                                    \
    X(tanh, tanh)                                                                                  \
    X(sigmoid, bench_oracle)                                                                       \
    X(erf, erf)                                                                                    \
    X(sin, sin)                                                                                    \
    X(cos, cos)                                                                                    \
    X(tan, tan)                                                                                    \
    X(asin, asin)                                                                                  \
    X(acos, acos)                                                                                  \
    X(atan, atan)                                                                                  \
    X(sinh, sinh)                                                                                  \
    X(cosh, cosh)                                                                                  \
    X(asinh, asinh)                                                                                \
    X(acosh, acosh)                                                                                \
    X(atanh, atanh)                                                                                \
    X(expm1, expm1)                                                                                \
    X(log1p, log1p)

enum { BLOCK = 1024 };

#define X(name, oracle)                                                                            \
    static void bench_##name(float *HG_RESTRICT d, const float *HG_RESTRICT x)                     \
    {                                                                                              \
        for (int i = 0; i < BLOCK; i++)                                                            \
            d[i] = hg_##name##_f32(x[i]);                                                          \
    }
FUNCTIONS(X)
#undef X

typedef struct bench_function {
    const char *name;
    void (*run)(float *HG_RESTRICT d, const float *HG_RESTRICT x);
    double (*oracle)(double x);
} bench_function;

static const bench_function bench_functions[] = {
#define X(name, oracle) {#name, bench_##name, oracle},
    FUNCTIONS(X)
#undef X
};

/* In units of the last place; infinite when the class or the sign of a zero is wrong. */
static double bench_error(float actual, double exact)
{
    const float rounded = (float)exact;
    if (isnan(exact) || isnan(actual)) return isnan(exact) && isnan(actual) ? 0 : HG_INFINITY;
    if (isinf(rounded) || isinf(actual))
        return actual == rounded || fabs(exact) >= 0x1.fffffcp127 ? 0 : HG_INFINITY;
    if (exact == 0) return actual == 0 && !signbit(actual) == !signbit(exact) ? 0 : HG_INFINITY;
    const double size = fabs(exact);
    const double unit = size < 0x1p-126 ? 0x1p-149 : ldexp(1, ilogb(size) - 23);
    return fabs((double)actual - exact) / unit;
}

static void bench_try(const bench_function *f, uint64_t step)
{
    static float x[BLOCK], y[BLOCK];
    double worst = 0;
    float at = 0;
    uint64_t hash = 0;
    for (uint64_t u = 0; u <= UINT32_MAX;) {
        int n = 0;
        for (; n < BLOCK && u <= UINT32_MAX; n++, u += step)
            x[n] = hg_f32_from_bits((uint32_t)u);
        f->run(y, x);
        for (int i = 0; i < n; i++) {
            const double error = bench_error(y[i], f->oracle((double)x[i]));
            if (error > worst) worst = error, at = x[i];
            hash = (hash ^ (isnan(y[i]) ? 0x7fc00000 : hg_bits_f32(y[i]))) *
                   UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 31;
        }
    }
    printf("%-8s %.4f units at %a, hash %016llx\n", f->name, worst, (double)at,
           (unsigned long long)hash);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
    for (size_t i = 0; i < HG_COUNT(bench_functions); i++)
        bench_try(&bench_functions[i], step == 0 ? 1 : step);
    return 0;
}
