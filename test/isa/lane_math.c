/* lane_math.c - the functions of lane code against the C library in the next wider type: errors in
 * units of the last place over floats of every size, and the special cases of IEEE 754. */
#include "isa/lane_math.h"
#include "test.h"

#include <float.h>

/* ---- float ----------------------------------------------------------------------------------- */

typedef struct math_f32 {
    const char *name;
    float (*f)(float x);
    double (*oracle)(double x);
    double bound; /* units in the last place */
} math_f32;

static double math_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

#define UNARY(X)                                                                                   \
    X(exp, exp, 1.3)                                                                               \
    X(log, log, 0.9)                                                                               \
    X(tanh, tanh, 1.5)                                                                             \
    X(sigmoid, math_sigmoid, 1.8)                                                                  \
    X(erf, erf, 1.6)                                                                               \
    X(sin, sin, 0.52)                                                                              \
    X(cos, cos, 0.52)                                                                              \
    X(tan, tan, 0.52)                                                                              \
    X(asin, asin, 0.51)                                                                            \
    X(acos, acos, 0.51)                                                                            \
    X(atan, atan, 0.51)                                                                            \
    X(sinh, sinh, 0.51)                                                                            \
    X(cosh, cosh, 0.51)                                                                            \
    X(asinh, asinh, 0.51)                                                                          \
    X(acosh, acosh, 0.51)                                                                          \
    X(atanh, atanh, 0.51)                                                                          \
    X(expm1, expm1, 1.6)                                                                           \
    X(log1p, log1p, 1.5)                                                                           \
    X(sqrt, sqrt, 0.5)                                                                             \
    X(floor, floor, 0)                                                                             \
    X(ceil, ceil, 0)                                                                               \
    X(round, rint, 0)                                                                              \
    X(trunc, trunc, 0)                                                                             \
    X(abs, fabs, 0)
#define X(name, oracle, bound)                                                                     \
    static float math_##name##_f32(float x)                                                        \
    {                                                                                              \
        return hg_##name##_f32(x);                                                                 \
    }                                                                                              \
    static double math_##name##_f64(double x)                                                      \
    {                                                                                              \
        return hg_##name##_f64(x);                                                                 \
    }
UNARY(X)
#undef X

static const math_f32 math_f32s[] = {
#define X(name, oracle, bound) {#name, math_##name##_f32, oracle, bound},
    UNARY(X)
#undef X
};

/* Distance in units of the last place of the exact value; huge when the class is wrong. */
static double math_error_f32(float actual, double exact)
{
    float rounded = (float)exact;
    if (isnan(exact) || isnan(actual)) return isnan(exact) && isnan(actual) ? 0 : 1e9;
    if (isinf(rounded) || isinf(actual)) {
        bool is_edge = fabs(exact) >= (double)FLT_MAX && fabsf(actual) >= FLT_MAX;
        return actual == rounded ? 0 : is_edge ? 1 : 1e9;
    }
    if (exact == 0) return actual == 0 && !signbit(actual) == !signbit(exact) ? 0 : 1e9;
    double size = fabs(exact);
    double unit = size < 0x1p-126 ? 0x1p-149 : ldexp(1, ilogb(size) - 23);
    return fabs((double)actual - exact) / unit;
}

static bool math_try_f32(const math_f32 *m, uint32_t bits)
{
    float x = hg_f32_from_bits(bits), y = m->f(x);
    double exact = m->oracle((double)x), error = math_error_f32(y, exact);
    if (error <= m->bound) return true;
    hg_test_fail(HG_TEST_HERE, "%s(%a) is %a, expected %a: %g units, bound %g", m->name, (double)x,
                 (double)y, exact, error, m->bound);
    return false;
}

static void math_floats_of_every_size(void)
{
    for (size_t k = 0; k < HG_COUNT(math_f32s); k++) {
        const uint32_t step = 8191; /* a prime: half a million floats, every exponent and sign */
        for (uint64_t u = 0; u <= UINT32_MAX; u += step)
            if (!math_try_f32(&math_f32s[k], (uint32_t)u)) break;
    }
}

/* Where functions change course: around powers of two, ends of ranges and of polynomials. */
static void math_floats_at_edges(void)
{
    static const float edges[] = {
        0.0f,    0x1p-149f, 0x1p-126f, 0x1p-54f, 0x1p-27f, 0x1p-24f, 0.3466f, 0.5f,    0.625f,
        0.7071f, 0.75f,     0.875f,    1.0f,     1.4142f,  1.5708f,  2.0f,    2.5f,    3.1416f,
        4.0f,    6.0f,      10.0f,     16.6f,    22.0f,    40.0f,    80.0f,   87.4f,   88.7f,
        88.8f,   89.0f,     89.4f,     103.9f,   104.0f,   710.0f,   0x1p19f, 0x1p22f, 0x1p23f,
        0x1p24f, 0x1p52f,   0x1p64f,   0x1p100f, FLT_MAX,  INFINITY};
    for (size_t k = 0; k < HG_COUNT(math_f32s); k++)
        for (size_t i = 0; i < HG_COUNT(edges); i++)
            for (int32_t d = -300; d <= 300; d++) {
                uint32_t bits = hg_bits_f32(edges[i]) + (uint32_t)d;
                if (!math_try_f32(&math_f32s[k], bits & 0x7fffffff)) return;
                if (!math_try_f32(&math_f32s[k], bits | 0x80000000)) return;
            }
}

static void math_exp_negative_is_exp(void)
{
    for (uint64_t u = 0x80000000; u <= UINT32_MAX; u += 997) {
        float x = hg_f32_from_bits((uint32_t)u);
        float a = hg_exp_f32(x), b = hg_exp_negative_f32(x);
        if (!CHECK(isnan(a) ? isnan(b) : hg_bits_f32(a) == hg_bits_f32(b))) return;
    }
    CHECK(hg_exp_negative_f32(0.0f) == 1.0f);
}

/* ---- double ---------------------------------------------------------------------------------- */

typedef struct math_f64 {
    const char *name;
    double (*f)(double x);
    long double (*oracle)(long double x);
    double bound, low, high;
} math_f64;

static long double math_sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

static const math_f64 math_f64s[] = {
    {"exp", math_exp_f64, expl, 1.0, -745, 710},
    {"log", math_log_f64, logl, 1.0, 0, 3},
    {"sin", math_sin_f64, sinl, 1.0, -100, 100},
    {"cos", math_cos_f64, cosl, 1.0, -100, 100},
    {"tan", math_tan_f64, tanl, 2.3, -100, 100},
    {"asin", math_asin_f64, asinl, 1.0, -1, 1},
    {"acos", math_acos_f64, acosl, 1.3, -1, 1},
    {"atan", math_atan_f64, atanl, 1.7, -5, 5},
    {"sinh", math_sinh_f64, sinhl, 2.7, -20, 20},
    {"cosh", math_cosh_f64, coshl, 2.7, -20, 20},
    {"tanh", math_tanh_f64, tanhl, 2.4, -5, 5},
    {"asinh", math_asinh_f64, asinhl, 2.0, -5, 5},
    {"acosh", math_acosh_f64, acoshl, 2.3, 1, 9},
    {"atanh", math_atanh_f64, atanhl, 2.0, -1, 1},
    {"erf", math_erf_f64, erfl, 1.4, -6.5, 6.5},
    {"sigmoid", math_sigmoid_f64, math_sigmoidl, 2.4, -40, 40},
    {"expm1", math_expm1_f64, expm1l, 2.0, -3, 3},
    {"log1p", math_log1p_f64, log1pl, 1.0, -1, 3},
    {"sqrt", math_sqrt_f64, sqrtl, 0.51, 0, 100},
    {"floor", math_floor_f64, floorl, 0, -5e15, 5e15},
    {"ceil", math_ceil_f64, ceill, 0, -20, 20},
    {"round", math_round_f64, rintl, 0, -20, 20},
    {"trunc", math_trunc_f64, truncl, 0, -20, 20},
    {"abs", math_abs_f64, fabsl, 0, -1, 1},
};

static double math_error_f64(double actual, long double exact)
{
    double rounded = (double)exact;
    if (isnan(exact) || isnan(actual)) return isnan(exact) && isnan(actual) ? 0 : 1e9;
    if (isinf(rounded) || isinf(actual)) {
        bool is_edge = fabsl(exact) >= (long double)DBL_MAX && fabs(actual) >= DBL_MAX;
        return actual == rounded ? 0 : is_edge ? 1 : 1e9;
    }
    if (exact == 0) return actual == 0 && !signbit(actual) == !signbit(exact) ? 0 : 1e9;
    long double size = fabsl(exact);
    long double unit = size < 0x1p-1022L ? 0x1p-1074L : ldexpl(1, ilogbl(size) - 52);
    return (double)(fabsl((long double)actual - exact) / unit);
}

static uint64_t math_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 31;
}

static bool math_try_f64(const math_f64 *m, double x)
{
    double y = m->f(x), error = math_error_f64(y, m->oracle((long double)x));
    if (error <= m->bound) return true;
    hg_test_fail(HG_TEST_HERE, "%s(%a) is %a: %g units, bound %g", m->name, x, y, error, m->bound);
    return false;
}

static void math_doubles(void)
{
    static const double edges[] = {0.0,     5e-324, 0x1p-1022, 0x1p-54, 0.34657, 0.5,      0.875,
                                   1.0,     1.5708, 6.0,       22.0,    40.0,    709.0,    709.78,
                                   710.475, 745.13, 0x1p19,    0x1p28,  0x1p52,  0x1p1000, DBL_MAX};
    for (size_t k = 0; k < HG_COUNT(math_f64s); k++) {
        const math_f64 *m = &math_f64s[k];
        uint64_t state = 12345 + k;
        for (int i = 0; i < 40000; i++) {
            double part = (double)(math_random(&state) >> 11) * 0x1p-53;
            double x = m->low + (m->high - m->low) * part;
            if (i % 4 == 1) x *= ldexp(1, -(int)(math_random(&state) % 60));
            if (!math_try_f64(m, x)) break;
        }
        for (size_t i = 0; i < HG_COUNT(edges); i++)
            if (!math_try_f64(m, edges[i]) || !math_try_f64(m, -edges[i])) break;
        math_try_f64(m, (double)INFINITY);
        math_try_f64(m, -(double)INFINITY);
        math_try_f64(m, (double)NAN);
    }
}

/* Any double: the long reduction of angles. The C library's is exact. */
static void math_huge_angles(void)
{
    uint64_t state = 7;
    for (int i = 0; i < 20000; i++) {
        double x = hg_f64_from_bits(math_random(&state));
        if (!math_try_f64(&math_f64s[2], x) || !math_try_f64(&math_f64s[3], x) ||
            !math_try_f64(&math_f64s[4], x))
            return;
    }
    /* The double nearest to a multiple of pi/2, relative to its size. */
    math_try_f64(&math_f64s[3], 0x1.6ac5b262ca1ffp+849);
    CHECK_ULP64(hg_cos_f64(0x1.6ac5b262ca1ffp+849), -4.687165924254627611e-19, 1);
}

/* ---- two arguments --------------------------------------------------------------------------- */

static const double math_specials[] = {0.0,
                                       -0.0,
                                       1,
                                       -1,
                                       2,
                                       -2,
                                       3,
                                       -3,
                                       0.5,
                                       -0.5,
                                       1.5,
                                       -2.5,
                                       1e30,
                                       -1e30,
                                       1e-30,
                                       16777216,
                                       16777217,
                                       0x1p53,
                                       0x1p53 + 2,
                                       5e-324,
                                       -5e-324,
                                       0x1p1023,
                                       (double)INFINITY,
                                       -(double)INFINITY,
                                       (double)NAN};

static bool math_same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static void math_pow_special(void)
{
    for (size_t i = 0; i < HG_COUNT(math_specials); i++)
        for (size_t j = 0; j < HG_COUNT(math_specials); j++) {
            double x = math_specials[i], y = math_specials[j], expected = pow(x, y);
            double actual = hg_pow_f64(x, y);
            if (!math_same(actual, expected) && math_error_f64(actual, (long double)expected) > 1)
                hg_test_fail(HG_TEST_HERE, "pow(%g, %g) is %g, expected %g", x, y, actual,
                             expected);
            float xf = (float)x, yf = (float)y, narrow = hg_pow_f32(xf, yf);
            double wide = pow((double)xf, (double)yf);
            if (!math_same((double)narrow, (double)(float)wide) &&
                math_error_f32(narrow, wide) > 0.51)
                hg_test_fail(HG_TEST_HERE, "powf(%g, %g) is %g, expected %g", x, y, (double)narrow,
                             wide);
        }
}

static void math_pow_integers_are_exact(void)
{
    for (int x = -50; x <= 50; x++) {
        double product = 1;
        for (int y = 0; y < 54 && fabs(product) <= 0x1p53; y++, product *= x) {
            CHECK(hg_pow_f64(x, y) == product);
            if (fabs(product) <= 0x1p24) CHECK(hg_pow_f32((float)x, (float)y) == (float)product);
        }
    }
}

static void math_pow_bound(void)
{
    uint64_t state = 99;
    for (int i = 0; i < 60000; i++) {
        double a = (double)(math_random(&state) >> 11) * 0x1p-53;
        double b = (double)(math_random(&state) >> 11) * 0x1p-53;
        double x = i % 2 == 0 ? 8 * a : exp(600 * a - 300),
               y = i % 2 == 0 ? 40 * b - 20 : 4 * b - 2;
        double error = math_error_f64(hg_pow_f64(x, y), powl((long double)x, (long double)y));
        if (!CHECK(error <= 1.2)) return;
        float xf = (float)x, yf = (float)y;
        if (!CHECK(math_error_f32(hg_pow_f32(xf, yf), pow((double)xf, (double)yf)) <= 0.51)) return;
    }
}

static void math_atan2_and_fmod(void)
{
    uint64_t state = 3;
    for (int i = 0; i < 40000; i++) {
        double x = hg_f64_from_bits(math_random(&state)), y = hg_f64_from_bits(math_random(&state));
        size_t a = (size_t)i % HG_COUNT(math_specials), b = (size_t)i / HG_COUNT(math_specials);
        if (i % 2 == 0) x = ldexp((double)(int32_t)math_random(&state), -20);
        if (i % 4 == 0) y = ldexp((double)(int32_t)math_random(&state), -22);
        if (b < HG_COUNT(math_specials)) x = math_specials[a], y = math_specials[b];
        long double exact = atan2l((long double)y, (long double)x);
        if (!CHECK(math_error_f64(hg_atan2_f64(y, x), exact) <= 1.8)) return;
        if (!CHECK(math_same(hg_fmod_f64(x, y), fmod(x, y)))) return;
        float xf = (float)x, yf = (float)y;
        if (!CHECK(math_error_f32(hg_atan2_f32(yf, xf), atan2((double)yf, (double)xf)) <= 0.51))
            return;
        if (!CHECK(math_same((double)hg_fmod_f32(xf, yf), (double)fmodf(xf, yf)))) return;
    }
}

static void math_integer_powers(void)
{
    CHECK_EQ_INT(hg_pow_i64(-3, 3), -27);
    CHECK_EQ_INT(hg_pow_i64(7, 0), 1);
    CHECK_EQ_INT(hg_pow_i64(0, 0), 1);
    CHECK_EQ_INT(hg_pow_i64(2, 63), INT64_MIN);
    CHECK_EQ_INT(hg_pow_i64(2, 64), 0);
    CHECK_EQ_INT(hg_pow_i64(2, -1), 0);
    CHECK_EQ_INT(hg_pow_i64(0, -1), 0);
    CHECK_EQ_INT(hg_pow_i64(1, -9), 1);
    CHECK_EQ_INT(hg_pow_i64(-1, -9), -1);
    CHECK_EQ_INT(hg_pow_i64(-1, -8), 1);
    CHECK_EQ_INT(hg_pow_i32(3, 21), (int32_t)10460353203);
    CHECK_EQ_INT((int64_t)hg_pow_u64(10, 19), (int64_t)UINT64_C(10000000000000000000));
}

const hg_test_case hg_tests_isa_lane_math[] = {
    {"floats_of_every_size", math_floats_of_every_size},
    {"floats_at_edges", math_floats_at_edges},
    {"exp_negative_is_exp", math_exp_negative_is_exp},
    {"doubles", math_doubles},
    {"huge_angles", math_huge_angles},
    {"pow_special", math_pow_special},
    {"pow_integers_are_exact", math_pow_integers_are_exact},
    {"pow_bound", math_pow_bound},
    {"atan2_and_fmod", math_atan2_and_fmod},
    {"integer_powers", math_integer_powers},
    {0},
};
