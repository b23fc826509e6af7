/* lane.c - the interpreters of lane code, reference and tuned, against plain C on single values. */
#include "base/cpu.h"
#include "base/half.h"
#include "isa/kernel.h"
#include "isa/lane_io.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include "backend/cpu/avx2/lane.h"
#elif defined(__aarch64__)
#include "backend/cpu/vec8.h" /* its names */

#include "backend/cpu/avx2/lane.h"
#endif

typedef struct lane_variant {
    const char *name;
    hg_lane_run_fn run;
    hg_lane_read_fn read;
    hg_lane_write_fn write;
    uint32_t cpu;
} lane_variant;

static const lane_variant lane_variants[] = {
    {"reference", hg_lane_run, hg_lane_read, hg_lane_write, 0},
#if defined(__x86_64__)
    {"avx2", hg_lane_run_avx2, hg_lane_read_avx2, hg_lane_write_avx2, HG_CPU_AVX2},
#elif defined(__aarch64__)
    {"neon", hg_lane_run_neon, hg_lane_read_neon, hg_lane_write_neon, HG_CPU_NEON},
#endif
};

static bool lane_can_run(const lane_variant *v)
{
    return (hg_cpu_features() & v->cpu) == v->cpu;
}

/* A value of any compute type. */
typedef union lane_number {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    uint64_t u64;
} lane_number;

static const holo_dtype lane_dtype[] = {HOLO_NONE, HOLO_F32, HOLO_F64,
                                        HOLO_I32,  HOLO_I64, HOLO_U64};
static const char *const lane_type_name[] = {"none", "f32", "f64", "i32", "i64", "u64"};

/* The same bits, or both NaN. */
static bool lane_same(uint32_t type, const void *a, const void *b)
{
    float f, g;
    double d, e;
    if (type == HG_LANE_F32) {
        memcpy(&f, a, sizeof f);
        memcpy(&g, b, sizeof g);
        return isnan(f) ? isnan(g) : memcmp(a, b, sizeof f) == 0;
    }
    if (type == HG_LANE_F64) {
        memcpy(&d, a, sizeof d);
        memcpy(&e, b, sizeof e);
        return isnan(d) ? isnan(e) : memcmp(a, b, sizeof d) == 0;
    }
    return memcmp(a, b, hg_lane_width(type)) == 0;
}

/* Runs code on dense operands of n elements. */
static void lane_run_dense(const lane_variant *v, const hg_lane_code *code, void *const *in,
                           const holo_dtype *in_type, void *out, holo_dtype out_type, int64_t n,
                           hg_fault *fault)
{
    hg_lane_view views[8];
    for (uint32_t i = 0; i < code->n_in; i++)
        views[i] = (hg_lane_view){.data = in[i], .col = 1, .row = n, .dtype = in_type[i]};
    hg_lane_view to = {.data = out, .col = 1, .row = n, .dtype = out_type};
    void *scratch = malloc(hg_lane_scratch(code));
    hg_lane_tile tile = {.in = views,
                         .out = &to,
                         .rows = 1,
                         .cols = n,
                         .row_elements = n,
                         .scratch = scratch,
                         .fault = fault};
    v->run(code, &tile);
    free(scratch);
}

/* ---- every operation on every type ----------------------------------------------------------- */

static const double lane_reals[] = {0.0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.5,
                                    -0.5,
                                    1.5,
                                    2.5,
                                    -2.5,
                                    3,
                                    -7.25,
                                    100.75,
                                    -1e6,
                                    8388609,
                                    1e10,
                                    -3e9,
                                    1e20,
                                    -1e30,
                                    1e-30,
                                    1e-40,
                                    (double)INFINITY,
                                    -(double)INFINITY,
                                    (double)NAN};
static const int64_t lane_wholes[] = {
    0,         1,        -1, 2,   -2,   3,   5,     -7,        31,        32,
    33,        63,       64, 100, -128, 255, 65536, INT32_MAX, INT32_MIN, INT32_MAX + INT64_C(1),
    INT64_MAX, INT64_MIN};

static lane_number lane_pick(uint32_t type, size_t i)
{
    lane_number x = {0};
    double real = lane_reals[i % HG_COUNT(lane_reals)];
    int64_t whole = lane_wholes[i % HG_COUNT(lane_wholes)];
    if (type == HG_LANE_F32) x.f32 = (float)real;
    if (type == HG_LANE_F64) x.f64 = real;
    if (type == HG_LANE_I32) x.i32 = (int32_t)(uint32_t)(uint64_t)whole;
    if (type == HG_LANE_I64) x.i64 = whole;
    if (type == HG_LANE_U64) x.u64 = (uint64_t)whole;
    return x;
}

/* Of the two floats around x, the one whose last bit is 1. */
static double lane_expect_odd(double x)
{
    float near = (float)x, low = (double)near < x ? near : nextafterf(near, -INFINITY);
    uint32_t bits;
    if (isnan(x) || (double)near == x) return x;
    memcpy(&bits, &low, sizeof bits);
    return (double)(bits % 2 == 1 ? low : nextafterf(low, INFINITY));
}

/* What is exact in floating point, in the wider type. */
static double lane_expect_float(uint32_t op, double x, double y, double z)
{
    switch (op) {
    case HG_LANE_ADD: return x + y;
    case HG_LANE_SUB: return x - y;
    case HG_LANE_MUL: return x * y;
    case HG_LANE_DIV: return x / y;
    case HG_LANE_REM: return fmod(x, y);
    case HG_LANE_MIN: return isnan(x) ? x : x < y ? x : y;
    case HG_LANE_MAX: return isnan(x) ? x : x > y ? x : y;
    case HG_LANE_POW: return pow(x, y);
    case HG_LANE_ATAN2: return atan2(x, y);
    case HG_LANE_NEG: return -x;
    case HG_LANE_ABS: return fabs(x);
    case HG_LANE_SIGN: return isnan(x) ? x : (x > 0) - (x < 0);
    case HG_LANE_FLOOR: return floor(x);
    case HG_LANE_CEIL: return ceil(x);
    case HG_LANE_ROUND: return rint(x);
    case HG_LANE_TRUNC: return trunc(x);
    case HG_LANE_SQRT: return sqrt(x);
    case HG_LANE_RECIP: return 1 / x;
    case HG_LANE_EXP: return exp(x);
    case HG_LANE_LOG: return log(x);
    case HG_LANE_SIN: return sin(x);
    case HG_LANE_COS: return cos(x);
    case HG_LANE_TAN: return tan(x);
    case HG_LANE_ASIN: return asin(x);
    case HG_LANE_ACOS: return acos(x);
    case HG_LANE_ATAN: return atan(x);
    case HG_LANE_SINH: return sinh(x);
    case HG_LANE_COSH: return cosh(x);
    case HG_LANE_TANH: return tanh(x);
    case HG_LANE_ASINH: return asinh(x);
    case HG_LANE_ACOSH: return acosh(x);
    case HG_LANE_ATANH: return atanh(x);
    case HG_LANE_ERF: return erf(x);
    case HG_LANE_SIGMOID: return 1 / (1 + exp(-x));
    case HG_LANE_EXPM1: return expm1(x);
    case HG_LANE_LOG1P: return log1p(x);
    case HG_LANE_ODD: return lane_expect_odd(x);
    default: return z;
    }
}

static bool lane_expect_bool(uint32_t op, uint32_t type, lane_number x, lane_number y)
{
    bool is_f32 = type == HG_LANE_F32, is_f64 = type == HG_LANE_F64;
    bool eq = is_f32 ? x.f32 == y.f32 : is_f64 ? x.f64 == y.f64 : x.u64 == y.u64;
    bool lt = is_f32                ? x.f32 < y.f32
              : is_f64              ? x.f64 < y.f64
              : type == HG_LANE_I32 ? x.i32 < y.i32
              : type == HG_LANE_I64 ? x.i64 < y.i64
                                    : x.u64 < y.u64;
    if (type == HG_LANE_I32) eq = x.i32 == y.i32;
    if (op == HG_LANE_ISNAN) return is_f32 ? isnan(x.f32) : isnan(x.f64);
    if (op == HG_LANE_ISINF) return is_f32 ? isinf(x.f32) != 0 : isinf(x.f64) != 0;
    return op == HG_LANE_EQ ? eq : op == HG_LANE_LT ? lt : lt || eq;
}

/* Integers of `bits` bits in wide arithmetic; the result is taken modulo 2^bits. */
static uint64_t lane_expect_int(uint32_t op, int64_t x, int64_t y, int64_t z, int bits,
                                bool is_signed)
{
    uint64_t ux = (uint64_t)x, uy = (uint64_t)y, power = 1;
    int64_t least = bits == 32 ? INT32_MIN : INT64_MIN;
    bool wraps = is_signed && x == least && y == -1;
    switch (op) {
    case HG_LANE_ADD: return ux + uy;
    case HG_LANE_SUB: return ux - uy;
    case HG_LANE_MUL: return ux * uy;
    case HG_LANE_DIV:
        if (y == 0) return 0;
        return wraps ? ux : is_signed ? (uint64_t)(x / y) : ux / uy;
    case HG_LANE_REM:
        if (y == 0 || wraps) return 0;
        return is_signed ? (uint64_t)(x % y) : ux % uy;
    case HG_LANE_MOD:
        if (y == 0 || wraps) return 0;
        if (!is_signed) return ux % uy;
        return (uint64_t)(x % y != 0 && (x % y < 0) != (y < 0) ? x % y + y : x % y);
    case HG_LANE_MIN: return (is_signed ? x < y : ux < uy) ? ux : uy;
    case HG_LANE_MAX: return (is_signed ? x > y : ux > uy) ? ux : uy;
    case HG_LANE_POW:
        if (is_signed && y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 != 0 ? UINT64_MAX : 1) : 0;
        for (int k = 63; k >= 0; k--) { /* high bit of the exponent first */
            power *= power;
            if ((uy >> k & 1) != 0) power *= ux;
        }
        return power;
    case HG_LANE_NEG: return 0 - ux;
    case HG_LANE_ABS: return is_signed && x < 0 ? 0 - ux : ux;
    case HG_LANE_SIGN: return is_signed ? (uint64_t)((x > 0) - (x < 0)) : x != 0;
    case HG_LANE_AND: return ux & uy;
    case HG_LANE_OR: return ux | uy;
    case HG_LANE_XOR: return ux ^ uy;
    case HG_LANE_NOT: return ~ux;
    case HG_LANE_SHL: return y >= 0 && y < bits ? ux << y : 0;
    case HG_LANE_SHR:
        if (y < 0 || y >= bits) return is_signed && x < 0 ? UINT64_MAX : 0;
        return is_signed ? (uint64_t)(x >> y) : ux >> y;
    default: return (uint64_t)z;
    }
}

static lane_number lane_expect(uint32_t op, uint32_t type, lane_number a, lane_number b,
                               lane_number c, int32_t condition)
{
    lane_number r = {0};
    if (op == HG_LANE_SELECT) return condition != 0 ? a : b;
    if (hg_lane_op_result(op, type) != type || op == HG_LANE_EQ || op == HG_LANE_LT ||
        op == HG_LANE_LE) {
        r.i32 = lane_expect_bool(op, type, a, b);
        return r;
    }
    switch (type) {
    case HG_LANE_F32:
        r.f32 = (float)lane_expect_float(op, (double)a.f32, (double)b.f32, (double)c.f32);
        if (op == HG_LANE_ADD) r.f32 = a.f32 + b.f32;
        if (op == HG_LANE_SUB) r.f32 = a.f32 - b.f32;
        if (op == HG_LANE_MUL) r.f32 = a.f32 * b.f32;
        break;
    case HG_LANE_F64: r.f64 = lane_expect_float(op, a.f64, b.f64, c.f64); break;
    case HG_LANE_I32:
        r.i32 = (int32_t)(uint32_t)lane_expect_int(op, a.i32, b.i32, c.i32, 32, true);
        break;
    case HG_LANE_I64: r.u64 = lane_expect_int(op, a.i64, b.i64, c.i64, 64, true); break;
    default: r.u64 = lane_expect_int(op, a.i64, b.i64, c.i64, 64, false); break;
    }
    return r;
}

/* Functions with an error bound of their own (test/isa/lane_math.c) are near, the others exact. */
static bool lane_is_near(uint32_t op, uint32_t type, const lane_number *a, const lane_number *b)
{
    if (lane_same(type, a, b)) return true;
    if (op != HG_LANE_POW && op != HG_LANE_ATAN2 && op < HG_LANE_EXP) return false;
    if (type == HG_LANE_F32)
        return fabs((double)a->f32 - (double)b->f32) <= 3e-7 * fabs((double)b->f32) + 1e-44;
    return type == HG_LANE_F64 && fabs(a->f64 - b->f64) <= 1e-15 * fabs(b->f64) + 2e-323;
}

/* a[0], a[1] are the operands, a[2] the condition of a select. */
static hg_lane_code lane_code_of(uint32_t op, uint32_t type, hg_lane_op *ops, hg_lane_out *out)
{
    int operands = hg_lane_operands(op);
    uint8_t t = (uint8_t)type;
    ops[0] = (hg_lane_op){.op = HG_LANE_LOAD, .type = t, .dst = 0, .index = 0};
    ops[1] = (hg_lane_op){.op = HG_LANE_LOAD, .type = t, .dst = 1, .index = 1};
    ops[2] = (hg_lane_op){.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 2, .index = 2};
    ops[3] = (hg_lane_op){.op = (uint8_t)op, .type = t, .dst = 3, .a = 0};
    if (operands == 2) ops[3].b = 1;
    if (operands == 3) ops[3].a = 2, ops[3].b = 0, ops[3].c = 1;
    *out = (hg_lane_out){3, (uint8_t)hg_lane_op_result(op, type), 0};
    return (hg_lane_code){ops, out, 4, 3, 1, 4};
}

static void lane_try_op(const lane_variant *v, uint32_t op, uint32_t type)
{
    enum { N = 23 * 23 };
    hg_lane_op ops[4];
    hg_lane_out out;
    hg_lane_code code = lane_code_of(op, type, ops, &out);
    holo_error e = {0};
    if (!CHECK_OK(hg_lane_verify(&code, &e), &e)) return;
    size_t width = hg_lane_width(type), out_width = hg_lane_width(out.type);
    uint8_t *a = malloc(N * width), *b = malloc(N * width), *d = malloc(N * out_width);
    int32_t *condition = malloc(N * sizeof *condition);
    for (size_t i = 0; i < N; i++) {
        lane_number x = lane_pick(type, i % 23), y = lane_pick(type, i / 23);
        memcpy(a + i * width, &x, width);
        memcpy(b + i * width, &y, width);
        condition[i] = i % 3 == 0 ? 0 : (int32_t)i - 300;
    }
    void *in[3] = {a, b, condition};
    const holo_dtype types[3] = {lane_dtype[type], lane_dtype[type], HOLO_I32};
    hg_fault fault = {0};
    lane_run_dense(v, &code, in, types, d, lane_dtype[out.type], N, &fault);
    for (size_t i = 0; i < N; i++) {
        lane_number x = lane_pick(type, i % 23), y = lane_pick(type, i / 23), actual = {0};
        lane_number expected = lane_expect(op, type, x, y, x, condition[i]);
        memcpy(&actual, d + i * out_width, out_width);
        if (lane_is_near(op, out.type, &actual, &expected)) continue;
        hg_test_fail(HG_TEST_HERE, "%s: %s.%s of values %zu and %zu is %llx, expected %llx",
                     v->name, hg_lane_op_text(op), lane_type_name[type], i % 23, i / 23,
                     (unsigned long long)actual.u64, (unsigned long long)expected.u64);
        break;
    }
    bool divides = op == HG_LANE_DIV || op == HG_LANE_MOD || op == HG_LANE_REM;
    bool is_int = type != HG_LANE_F32 && type != HG_LANE_F64;
    CHECK_EQ_INT(fault.kind, divides && is_int ? HG_FAULT_DIVIDE : HG_FAULT_NONE);
    free(a), free(b), free(d), free(condition);
}

static void lane_every_operation(void)
{
    int tried = 0;
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++)
        for (uint32_t op = HG_LANE_ADD; op < 256; op++)
            for (uint32_t type = HG_LANE_F32; type <= HG_LANE_U64; type++) {
                if (!lane_can_run(&lane_variants[k]) || !hg_lane_op_accepts(op, type)) continue;
                lane_try_op(&lane_variants[k], op, type);
                tried++;
            }
    CHECK(tried >= 150);
}

/* ---- conversions ------------------------------------------------------------------------------
 */

static lane_number lane_expect_cast(uint32_t from, uint32_t to, lane_number x)
{
    lane_number r = {0};
    long double v = from == HG_LANE_F32   ? (long double)x.f32
                    : from == HG_LANE_F64 ? (long double)x.f64
                    : from == HG_LANE_I32 ? (long double)x.i32
                    : from == HG_LANE_I64 ? (long double)x.i64
                                          : (long double)x.u64;
    bool is_int = from != HG_LANE_F32 && from != HG_LANE_F64;
    uint64_t bits = from == HG_LANE_I32 ? (uint64_t)(int64_t)x.i32 : x.u64;
    switch (to) {
    case HG_LANE_F32: r.f32 = (float)v; break;
    case HG_LANE_F64: r.f64 = (double)v; break;
    case HG_LANE_I32:
        r.i32 = is_int                                ? (int32_t)(uint32_t)bits
                : v > INT32_MIN - 1.0L && v < 0x1p31L ? (int32_t)v
                                                      : INT32_MIN;
        break;
    case HG_LANE_I64:
        r.i64 = is_int ? (int64_t)bits : v >= -0x1p63L && v < 0x1p63L ? (int64_t)v : INT64_MIN;
        break;
    default: r.u64 = is_int ? bits : v > -1 && v < 0x1p64L ? (uint64_t)v : 0; break;
    }
    return r;
}

static void lane_try_cast(const lane_variant *v, uint32_t from, uint32_t to)
{
    enum { N = 46 };
    hg_lane_op ops[2] = {{.op = HG_LANE_LOAD, .type = (uint8_t)from},
                         {.op = HG_LANE_CAST, .type = (uint8_t)to, .dst = 1, .index = from}};
    hg_lane_out out = {1, (uint8_t)to, 0};
    hg_lane_code code = {ops, &out, 2, 1, 1, 2};
    size_t width = hg_lane_width(from), out_width = hg_lane_width(to);
    uint8_t a[N * 8], d[N * 8];
    lane_number value[N];
    for (size_t i = 0; i < N; i++) {
        value[i] = lane_pick(from, i);
        if (i >= 23 && from == HG_LANE_F32)
            value[i].f32 = ldexpf(i % 2 ? 1 : -1, 8 * (int)(i - 20));
        if (i >= 23 && from == HG_LANE_F64)
            value[i].f64 = ldexp(i % 2 ? 1 : -1, (int)(i - 14)) - (double)(i % 3) * 0.75;
        memcpy(a + i * width, &value[i], width);
    }
    void *in[1] = {a};
    lane_run_dense(v, &code, in, &lane_dtype[from], d, lane_dtype[to], N, NULL);
    for (size_t i = 0; i < N; i++) {
        lane_number expected = lane_expect_cast(from, to, value[i]), actual = {0};
        memcpy(&actual, d + i * out_width, out_width);
        if (lane_same(to, &actual, &expected)) continue;
        hg_test_fail(HG_TEST_HERE, "%s: cast %s to %s of value %zu is %llx, expected %llx", v->name,
                     lane_type_name[from], lane_type_name[to], i, (unsigned long long)actual.u64,
                     (unsigned long long)expected.u64);
        return;
    }
}

static void lane_every_cast(void)
{
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++)
        for (uint32_t from = HG_LANE_F32; from <= HG_LANE_U64; from++)
            for (uint32_t to = HG_LANE_F32; to <= HG_LANE_U64; to++)
                if (lane_can_run(&lane_variants[k])) lane_try_cast(&lane_variants[k], from, to);
}

/* ---- element types ----------------------------------------------------------------------------
 */

#define LANE_DTYPES(X)                                                                             \
    X(F32)                                                                                         \
    X(F64)                                                                                         \
    X(F16)                                                                                         \
    X(BF16)                                                                                        \
    X(F8E4M3FN)                                                                                    \
    X(F8E4M3FNUZ)                                                                                  \
    X(F8E5M2)                                                                                      \
    X(F8E5M2FNUZ)                                                                                  \
    X(F8E8M0)                                                                                      \
    X(F4E2M1)                                                                                      \
    X(BOOL)                                                                                        \
    X(U8)                                                                                          \
    X(I8)                                                                                          \
    X(U16)                                                                                         \
    X(I16)                                                                                         \
    X(I32)                                                                                         \
    X(U4)                                                                                          \
    X(I4)                                                                                          \
    X(U2)                                                                                          \
    X(I2)                                                                                          \
    X(I64)                                                                                         \
    X(U32)                                                                                         \
    X(U64)
static const holo_dtype lane_dtypes[] = {
#define X(name) HOLO_##name,
    LANE_DTYPES(X)
#undef X
};

/* Element i of packed or whole-byte data, widened by the functions of base/half.h. */
static lane_number lane_element(holo_dtype dtype, const void *data, int64_t i)
{
    const uint8_t *u8 = data;
    uint16_t u16;
    lane_number r = {0};
    uint32_t bits = hg_dtype_bits(dtype);
    uint64_t raw = 0;
    if (bits < 8)
        raw = hg_packed_get(u8, i, (int)bits);
    else
        memcpy(&raw, u8 + i * (int64_t)(bits / 8), bits / 8);
    u16 = (uint16_t)raw;
    switch ((int)dtype) {
    case HOLO_F16: r.f32 = hg_f16_to_f32(u16); break;
    case HOLO_BF16: r.f32 = hg_bf16_to_f32(u16); break;
    case HOLO_F8E4M3FN: r.f32 = hg_f8e4m3fn_to_f32((uint8_t)raw); break;
    case HOLO_F8E4M3FNUZ: r.f32 = hg_f8e4m3fnuz_to_f32((uint8_t)raw); break;
    case HOLO_F8E5M2: r.f32 = hg_f8e5m2_to_f32((uint8_t)raw); break;
    case HOLO_F8E5M2FNUZ: r.f32 = hg_f8e5m2fnuz_to_f32((uint8_t)raw); break;
    case HOLO_F8E8M0: r.f32 = hg_f8e8m0_to_f32((uint8_t)raw); break;
    case HOLO_F4E2M1: r.f32 = hg_f4e2m1_to_f32((uint8_t)raw); break;
    case HOLO_BOOL: r.i32 = raw != 0; break;
    case HOLO_I8: r.i32 = (int8_t)raw; break;
    case HOLO_I16: r.i32 = (int16_t)raw; break;
    case HOLO_I4: r.i32 = hg_i4_to_i32((uint8_t)raw); break;
    case HOLO_I2: r.i32 = hg_i2_to_i32((uint8_t)raw); break;
    default: r.u64 = raw; break; /* the bits of the compute type, zero-extended */
    }
    return r;
}

static void lane_reads(void)
{
    enum { N = 300 };
    uint8_t *data = malloc(N * 8);
    for (int i = 0; i < N * 8; i++)
        data[i] = (uint8_t)(i * 131 + i / 7 * 17);
    static const int64_t strides[] = {1, 0, 3, 2, -1};
    for (size_t k = 0; k < HG_COUNT(lane_variants) * HG_COUNT(lane_dtypes); k++) {
        const lane_variant *v = &lane_variants[k / HG_COUNT(lane_dtypes)];
        holo_dtype dtype = lane_dtypes[k % HG_COUNT(lane_dtypes)];
        uint32_t type = hg_lane_type_of(dtype);
        for (int64_t n = 0; n < 95 * 5 && lane_can_run(v); n++) {
            int64_t stride = strides[n % 5], count = n / 5, first = stride < 0 ? 290 : n % 4;
            uint8_t *to = malloc((size_t)count * hg_lane_width(type) + 1);
            v->read(dtype, to, data, first, stride, count);
            for (int64_t i = 0; i < count; i++) {
                lane_number expected = lane_element(dtype, data, first + i * stride);
                if (lane_same(type, to + (size_t)i * hg_lane_width(type), &expected)) continue;
                hg_test_fail(HG_TEST_HERE, "%s: %s element %lld of %lld, stride %lld", v->name,
                             holo_dtype_text(dtype), (long long)i, (long long)count,
                             (long long)stride);
                i = count;
            }
            free(to);
        }
    }
    free(data);
}

/* One value narrowed by the definition: nearest for floats, modulo or clamped for integers. */
static uint64_t lane_narrowed(holo_dtype dtype, lane_number x, bool saturate)
{
    uint32_t bits = hg_dtype_bits(dtype);
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch ((int)dtype) {
    case HOLO_F16: return hg_f32_to_f16(x.f32);
    case HOLO_BF16: return hg_f32_to_bf16(x.f32);
    case HOLO_F8E4M3FN: return hg_f32_to_f8e4m3fn(x.f32, saturate);
    case HOLO_F8E4M3FNUZ: return hg_f32_to_f8e4m3fnuz(x.f32, saturate);
    case HOLO_F8E5M2: return hg_f32_to_f8e5m2(x.f32, saturate);
    case HOLO_F8E5M2FNUZ: return hg_f32_to_f8e5m2fnuz(x.f32, saturate);
    case HOLO_F8E8M0: return hg_f32_to_f8e8m0(x.f32, saturate);
    case HOLO_F4E2M1: return hg_f32_to_f4e2m1(x.f32);
    case HOLO_BOOL: return x.i32 != 0;
    case HOLO_F32:
    case HOLO_I32: return x.u64 & UINT32_MAX;
    case HOLO_U32: return saturate && x.u64 > UINT32_MAX ? UINT32_MAX : x.u64 & UINT32_MAX;
    case HOLO_F64:
    case HOLO_I64:
    case HOLO_U64: return x.u64;
    default: break;
    }
    int64_t low = hg_dtype_is_signed_int(dtype) ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = low + (INT64_C(1) << bits) - 1, value = x.i32;
    if (saturate) value = value < low ? low : value > high ? high : value;
    return (uint64_t)value & mask;
}

static lane_number lane_source(uint32_t type, int64_t i)
{
    lane_number x = lane_pick(type, (size_t)i);
    if (i < 23) return x;
    uint64_t state = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    state ^= state >> 29;
    if (type == HG_LANE_F32) x.f32 = ldexpf((float)(int32_t)state, (int)(i % 50) - 48);
    if (type == HG_LANE_I32) x.i32 = (int32_t)state >> (i % 31);
    if (type == HG_LANE_U64) x.u64 = state >> (i % 60);
    return x;
}

static void lane_writes(void)
{
    enum { N = 100 };
    uint8_t *from = malloc(N * 8), *data = malloc(N * 8 * 3 + 64);
    for (size_t k = 0; k < HG_COUNT(lane_variants) * HG_COUNT(lane_dtypes) * 4; k++) {
        const lane_variant *v = &lane_variants[k / 4 / HG_COUNT(lane_dtypes)];
        holo_dtype dtype = lane_dtypes[k / 4 % HG_COUNT(lane_dtypes)];
        bool saturate = k % 2 != 0;
        int64_t stride = k / 2 % 2 == 0 ? 1 : 3, first = (int64_t)(k % 3), last = -1;
        uint32_t type = hg_lane_type_of(dtype), bits = hg_dtype_bits(dtype);
        if (!lane_can_run(v)) continue;
        for (int64_t i = 0; i < N; i++) {
            lane_number x = lane_source(type, i);
            memcpy(from + (size_t)i * hg_lane_width(type), &x, hg_lane_width(type));
        }
        memset(data, 0xa5, N * 8 * 3 + 64);
        v->write(dtype, saturate, data, first, stride, from, N);
        for (int64_t i = 0; i < first + N * stride; i++) {
            bool is_written = i >= first && (i - first) % stride == 0;
            uint64_t raw = 0, mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
            if (bits < 8)
                raw = hg_packed_get(data, i, (int)bits);
            else
                memcpy(&raw, data + i * (int64_t)(bits / 8), bits / 8);
            uint64_t expected = UINT64_C(0xa5a5a5a5a5a5a5a5) & mask;
            if (bits == 2) expected = 0xa5 >> (i % 4 * 2) & 3;
            if (bits == 4) expected = i % 2 == 0 ? 5 : 10;
            if (is_written) {
                last++;
                expected = lane_narrowed(dtype, lane_source(type, last), saturate);
            }
            lane_number a = lane_element(dtype, data, i);
            bool is_nan = type == HG_LANE_F32 ? isnan(a.f32) : type == HG_LANE_F64 && isnan(a.f64);
            if (raw == expected || (is_written && is_nan)) continue;
            hg_test_fail(HG_TEST_HERE, "%s: %s%s element %lld is %llx, expected %llx", v->name,
                         holo_dtype_text(dtype), saturate ? " saturated" : "", (long long)i,
                         (unsigned long long)raw, (unsigned long long)expected);
            break;
        }
    }
    free(from), free(data);
}

/* NARROW is a store and a load. */
static void lane_narrow(void)
{
    enum { N = 100 };
    for (size_t k = 0; k < HG_COUNT(lane_variants) * HG_COUNT(lane_dtypes) * 2; k++) {
        const lane_variant *v = &lane_variants[k / 2 / HG_COUNT(lane_dtypes)];
        holo_dtype dtype = lane_dtypes[k / 2 % HG_COUNT(lane_dtypes)];
        uint32_t type = hg_lane_type_of(dtype);
        size_t width = hg_lane_width(type);
        uint8_t from[N * 8], to[N * 8], between[N * 8], expected[N * 8];
        if (!lane_can_run(v)) continue;
        for (int64_t i = 0; i < N; i++) {
            lane_number x = lane_source(type, i);
            memcpy(from + (size_t)i * width, &x, width);
        }
        hg_lane_op ops[2] = {{.op = HG_LANE_LOAD, .type = (uint8_t)type},
                             {.op = HG_LANE_NARROW,
                              .type = (uint8_t)type,
                              .dst = 1,
                              .index = (uint32_t)dtype,
                              .imm = k % 2}};
        hg_lane_out out = {1, (uint8_t)type, 0};
        hg_lane_code code = {ops, &out, 2, 1, 1, 2};
        void *in[1] = {from};
        lane_run_dense(v, &code, in, &lane_dtype[type], to, lane_dtype[type], N, NULL);
        hg_lane_write(dtype, k % 2 != 0, between, 0, 1, from, N);
        hg_lane_read(dtype, expected, between, 0, 1, N);
        for (size_t i = 0; i < N; i++)
            if (!CHECK(lane_same(type, to + i * width, expected + i * width))) return;
    }
}

/* ---- views and tiles --------------------------------------------------------------------------
 */

/* out = a * 1000 + b, of int16 and float operands, over a view of rows x cols. */
typedef struct lane_layout {
    int64_t rows, cols;
    int64_t a_row, a_col, b_row, b_col, out_row, out_col;
    int64_t row_elements;
} lane_layout;

static const lane_layout lane_layouts[] = {
    {1, 1, 0, 0, 0, 0, 0, 1, 1},
    {1, 1000, 0, 1, 0, 1, 0, 1, 1000},     /* one run */
    {5, 300, 300, 1, 300, 1, 300, 1, 300}, /* rows that follow each other */
    {5, 300, 310, 1, 0, 1, 305, 1, 400},   /* gaps, a row repeated */
    {3, 600, 1, 0, 0, 0, 600, 1, 600},     /* one value a row, one value */
    {200, 3, 3, 1, 0, 1, 3, 1, 3},         /* short rows, some repeated */
    {200, 3, 5, 1, 1, 0, 4, 1, 7},         /* short rows with gaps */
    {90, 7, 1, 90, 7, 1, 1, 90, 7},        /* transposed */
    {700, 1, 1, 1, 0, 0, 2, 1, 1},         /* one column */
    {2, 511, 511, 1, 0, 0, 512, 1, 600},   /* beside the size of a tile */
    {2, 512, 512, 1, 512, 1, 512, 1, 512}, /* exactly tiles */
    {2, 513, 0, 1, 513, 1, 520, 1, 513},
    {40, 16, 16, 1, 0, 1, 20, 1, 16},
    {17, 31, 0, 1, 1, 0, 31, 1, 31},
    {0, 5, 5, 1, 5, 1, 5, 1, 5},
    {5, 0, 0, 1, 0, 1, 0, 1, 0},
    /* tiles that begin and end inside a row: what repeats, and what does not, in each place */
    {9, 300, 1, 0, 300, 1, 300, 1, 300},
    {9, 300, 300, 1, 1, 0, 300, 1, 300},
    {9, 300, 300, 1, 0, 1, 300, 1, 300},
    {70, 49, 0, 1, 1, 0, 49, 1, 49},
    {70, 49, 49, 1, 2, 0, 49, 1, 49},
    {3, 1000, 1, 0, 0, 1, 1000, 1, 1000},
    {3, 1000, 0, 1, 1, 0, 1000, 1, 1000},
    {35, 45, 50, 1, 90, 2, 90, 2, 45},
    {35, 45, 1, 35, 50, 1, 45, 1, 45},
};

static void lane_try_layout(const lane_variant *v, const lane_layout *l, bool in_place)
{
    hg_lane_op ops[] = {
        {.op = HG_LANE_LOAD, .type = HG_LANE_I32, .dst = 0, .index = 0},
        {.op = HG_LANE_CAST, .type = HG_LANE_F32, .dst = 1, .a = 0, .index = HG_LANE_I32},
        {.op = HG_LANE_CONST, .type = HG_LANE_F32, .dst = 2, .imm = hg_bits_f32(1000)},
        {.op = HG_LANE_MUL, .type = HG_LANE_F32, .dst = 1, .a = 1, .b = 2},
        {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 3, .index = 1},
        {.op = HG_LANE_ADD, .type = HG_LANE_F32, .dst = 3, .a = 1, .b = 3},
    };
    hg_lane_out result = {3, HG_LANE_F32, 0};
    hg_lane_code code = {ops, &result, HG_COUNT(ops), 2, 1, 4};
    enum { N = 4000 };
    int16_t *a = malloc(N * sizeof *a);
    float *b = malloc(N * sizeof *b), *kept = malloc(N * sizeof *kept), *d = malloc(N * sizeof *d);
    for (int i = 0; i < N; i++) {
        a[i] = (int16_t)(i * 7 % 1201 - 600);
        b[i] = kept[i] = (float)(i * 13 % 997);
        d[i] = -1;
    }
    lane_layout at = *l;
    if (in_place) at.out_row = at.b_row, at.out_col = at.b_col, free(d), d = b;
    hg_lane_view in[2] = {{.data = a, .row = at.a_row, .col = at.a_col, .dtype = HOLO_I16},
                          {.data = b, .row = at.b_row, .col = at.b_col, .dtype = HOLO_F32}};
    hg_lane_view out = {.data = d, .row = at.out_row, .col = at.out_col, .dtype = HOLO_F32};
    void *scratch = malloc(hg_lane_scratch(&code));
    hg_lane_tile tile = {in, &out, at.rows, at.cols, 0, at.row_elements, scratch, NULL, NULL};
    v->run(&code, &tile);
    for (int64_t r = 0; r < at.rows; r++)
        for (int64_t j = 0; j < at.cols; j++) {
            float expected =
                (float)a[r * at.a_row + j * at.a_col] * 1000 + kept[r * at.b_row + j * at.b_col];
            if (d[r * at.out_row + j * at.out_col] == expected) continue;
            hg_test_fail(HG_TEST_HERE, "%s: layout %td, element %lld, %lld", v->name,
                         l - lane_layouts, (long long)r, (long long)j);
            r = at.rows, j = at.cols;
        }
    int64_t written = 0;
    for (int i = 0; i < N && !in_place; i++)
        written += d[i] != -1;
    if (!in_place) CHECK_EQ_INT(written, at.rows * at.cols);
    free(a), free(kept), free(scratch), free(b);
    if (!in_place) free(d);
}

static void lane_layouts_of_views(void)
{
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++)
        for (size_t i = 0; i < HG_COUNT(lane_layouts); i++)
            if (lane_can_run(&lane_variants[k]))
                lane_try_layout(&lane_variants[k], &lane_layouts[i], false);
}

static void lane_in_place(void)
{
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++)
        for (size_t i = 0; i < HG_COUNT(lane_layouts); i++) {
            const lane_layout *l = &lane_layouts[i];
            bool is_unique = l->b_col != 0 && (l->b_row != 0 || l->rows == 1);
            if (is_unique && lane_can_run(&lane_variants[k]))
                lane_try_layout(&lane_variants[k], l, true);
        }
}

/* Two results; the first overwrites the operand that the second copies. */
static void lane_in_place_swaps(void)
{
    enum { N = 1024 };
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++) {
        if (!lane_can_run(&lane_variants[k])) continue;
        float a[N], b[N];
        for (int i = 0; i < N; i++)
            a[i] = (float)i, b[i] = (float)-i;
        hg_lane_op ops[] = {{.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 0, .index = 0},
                            {.op = HG_LANE_LOAD, .type = HG_LANE_F32, .dst = 1, .index = 1}};
        hg_lane_out outs[2] = {{1, HG_LANE_F32, 0}, {0, HG_LANE_F32, 0}};
        hg_lane_code code = {ops, outs, 2, 2, 2, 2};
        hg_lane_view v[2] = {{.data = a, .col = 1, .dtype = HOLO_F32},
                             {.data = b, .col = 1, .dtype = HOLO_F32}};
        void *scratch = malloc(hg_lane_scratch(&code));
        hg_lane_tile tile = {v, v, 1, N, 0, N, scratch, NULL, NULL};
        lane_variants[k].run(&code, &tile);
        for (int i = 0; i < N; i++)
            if (!CHECK(a[i] == (float)-i && b[i] == (float)i)) break;
        free(scratch);
    }
}

/* Elements of four bits that do not begin at a byte, in place: the neighbours stay. */
static void lane_packed_in_place(void)
{
    for (size_t k = 0; k < HG_COUNT(lane_variants); k++)
        for (int64_t first = 0; first < 3 && lane_can_run(&lane_variants[k]); first++) {
            enum { N = 700, BYTES = 352 };
            uint8_t data[BYTES], before[BYTES];
            for (int i = 0; i < BYTES; i++)
                data[i] = before[i] = (uint8_t)(i * 37);
            hg_lane_op ops[] = {{.op = HG_LANE_LOAD, .type = HG_LANE_I32},
                                {.op = HG_LANE_ADD, .type = HG_LANE_I32, .dst = 1}};
            hg_lane_out out = {1, HG_LANE_I32, 0};
            hg_lane_code code = {ops, &out, 2, 1, 1, 2};
            hg_lane_view v = {.data = data, .col = 1, .dtype = HOLO_I4, .first = first};
            void *scratch = malloc(hg_lane_scratch(&code));
            hg_lane_tile tile = {&v, &v, 1, N, 0, N, scratch, NULL, NULL};
            lane_variants[k].run(&code, &tile);
            for (int64_t i = 0; i < 2 * BYTES; i++) {
                uint8_t x = hg_packed_get(before, i, 4), y = hg_packed_get(data, i, 4);
                bool is_inside = i >= first && i < first + N;
                if (!CHECK_EQ_INT(y, is_inside ? x * 2 % 16 : x)) break;
            }
            free(scratch);
        }
}

static void lane_index(void)
{
    hg_lane_op op = {.op = HG_LANE_INDEX, .type = HG_LANE_I64};
    hg_lane_out out = {0, HG_LANE_I64, 0};
    hg_lane_code code = {&op, &out, 1, 0, 1, 1};
    for (size_t k = 0; k < HG_COUNT(lane_variants) * 2; k++) {
        int64_t rows = k % 2 == 0 ? 3 : 300, cols = k % 2 == 0 ? 700 : 5, d[2100];
        if (!lane_can_run(&lane_variants[k / 2])) continue;
        hg_lane_view v = {.data = d, .row = cols, .col = 1, .dtype = HOLO_I64};
        void *scratch = malloc(hg_lane_scratch(&code));
        hg_lane_tile tile = {NULL, &v, rows, cols, 50, 1000, scratch, NULL, NULL};
        lane_variants[k / 2].run(&code, &tile);
        for (int64_t i = 0; i < rows * cols; i++)
            if (!CHECK_EQ_INT(d[i], 50 + i / cols * 1000 + i % cols)) break;
        free(scratch);
    }
}

static void lane_division_faults(void)
{
    for (size_t k = 0; k < HG_COUNT(lane_variants) * 2; k++) {
        bool is_wide = k % 2 != 0;
        uint8_t type = is_wide ? HG_LANE_I64 : HG_LANE_I32;
        if (!lane_can_run(&lane_variants[k / 2])) continue;
        hg_lane_op ops[] = {{.op = HG_LANE_LOAD, .type = type, .dst = 0, .index = 0},
                            {.op = HG_LANE_LOAD, .type = type, .dst = 1, .index = 1},
                            {.op = HG_LANE_MOD, .type = type, .dst = 2, .a = 0, .b = 1}};
        hg_lane_out out = {2, type, 0};
        hg_lane_code code = {ops, &out, 3, 2, 1, 3};
        int64_t a8[1203], b8[1203];
        int32_t a4[1203], b4[1203];
        for (int i = 0; i < 1203; i++)
            a8[i] = a4[i] = i, b8[i] = b4[i] = i == 777 || i == 1000 ? 0 : 7;
        holo_dtype dtype = is_wide ? HOLO_I64 : HOLO_I32;
        hg_lane_view in[2] = {
            {.data = is_wide ? (void *)a8 : a4, .row = 401, .col = 1, .dtype = dtype},
            {.data = is_wide ? (void *)b8 : b4, .row = 401, .col = 1, .dtype = dtype}};
        hg_fault fault = {0};
        void *scratch = malloc(hg_lane_scratch(&code));
        hg_lane_tile tile = {in, in, 3, 401, 5, 500, scratch, &fault, NULL};
        lane_variants[k / 2].run(&code, &tile);
        CHECK_EQ_INT(fault.kind, HG_FAULT_DIVIDE);
        CHECK_EQ_INT(fault.element, 5 + 500 + (777 - 401));
        CHECK_EQ_INT(is_wide ? a8[777] : a4[777], 0);
        CHECK_EQ_INT(is_wide ? a8[778] : a4[778], 778 % 7);
        free(scratch);
    }
}

/* ---- random programs: every interpreter gives the same bits -----------------------------------
 */

static uint32_t lane_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Appends an operation that verifies; false when the one drawn does not fit. */
static bool lane_draw(hg_lane_code *code, hg_lane_op *ops, uint64_t *state)
{
    hg_lane_op *op = &ops[code->n_op];
    *op = (hg_lane_op){.op = (uint8_t)(lane_random(state) % 91),
                       .type = (uint8_t)(1 + lane_random(state) % 5),
                       .dst = (uint16_t)(lane_random(state) % code->n_reg)};
    int operands = hg_lane_operands(op->op);
    if (operands > 0) op->a = (uint16_t)(lane_random(state) % code->n_reg);
    if (operands > 1) op->b = (uint16_t)(lane_random(state) % code->n_reg);
    if (operands > 2) op->c = (uint16_t)(lane_random(state) % code->n_reg);
    if (op->op == HG_LANE_CAST) op->index = 1 + lane_random(state) % 5;
    if (op->op == HG_LANE_LOAD) op->index = lane_random(state) % code->n_in;
    if (op->op == HG_LANE_NARROW)
        op->index = lane_random(state) % 27, op->imm = lane_random(state) % 2;
    if (op->op == HG_LANE_CONST) op->imm = lane_random(state);
    if (op->op == HG_LANE_LOAD && hg_lane_type_of(lane_dtypes[op->index]) != op->type) return false;
    code->n_op++;
    hg_lane_out out = {op->dst, (uint8_t)hg_lane_op_result(op->op, op->type), 0};
    hg_lane_code probe = *code;
    probe.out = &out;
    if (hg_lane_verify(&probe, NULL) == HOLO_OK) return true;
    code->n_op--;
    return false;
}

static void lane_random_programs(void)
{
    enum { REGS = 6, OPS = 30, ROWS = 7, COLS = 83 };
    uint8_t *data = malloc(ROWS * COLS * 8 * 3), *a = malloc(ROWS * COLS * 8),
            *b = malloc(ROWS * COLS * 8);
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
        hg_lane_op ops[OPS];
        hg_lane_out out;
        hg_lane_code code = {ops, &out, 0, (uint32_t)HG_COUNT(lane_dtypes), 1, REGS};
        for (int tries = 0; tries < 4000 && code.n_op < OPS; tries++)
            (void)lane_draw(&code, ops, &state);
        const hg_lane_op *last = &ops[code.n_op - 1];
        out = (hg_lane_out){last->dst, (uint8_t)hg_lane_op_result(last->op, last->type), 0};
        for (int i = 0; i < ROWS * COLS * 8 * 3; i++)
            data[i] = (uint8_t)(lane_random(&state) >> (i % 3 * 8));
        hg_lane_view in[HG_COUNT(lane_dtypes)];
        for (size_t i = 0; i < HG_COUNT(lane_dtypes); i++)
            in[i] = (hg_lane_view){.data = data,
                                   .row = (int64_t)(lane_random(&state) % 3) * COLS,
                                   .col = lane_random(&state) % 3,
                                   .dtype = lane_dtypes[i]};
        uint8_t *to[2] = {a, b};
        for (size_t k = 0; k < HG_COUNT(lane_variants); k++) {
            if (!lane_can_run(&lane_variants[k])) continue;
            hg_lane_view view = {
                .data = to[k], .row = COLS, .col = 1, .dtype = lane_dtype[out.type]};
            void *scratch = malloc(hg_lane_scratch(&code));
            hg_lane_tile tile = {in, &view, ROWS, COLS, 0, COLS, scratch, NULL, NULL};
            lane_variants[k].run(&code, &tile);
            free(scratch);
            for (size_t i = 0; k > 0 && i < ROWS * COLS; i++) {
                size_t at = i * hg_lane_width(out.type);
                if (lane_same(out.type, a + at, b + at)) continue;
                hg_test_fail(HG_TEST_HERE, "program %llu: element %zu differs",
                             (unsigned long long)seed, i);
                break;
            }
        }
    }
    free(data), free(a), free(b);
}

const hg_test_case hg_tests_isa_lane[] = {
    {"every_operation", lane_every_operation},
    {"every_cast", lane_every_cast},
    {"reads", lane_reads},
    {"writes", lane_writes},
    {"narrow", lane_narrow},
    {"layouts_of_views", lane_layouts_of_views},
    {"in_place", lane_in_place},
    {"in_place_swaps", lane_in_place_swaps},
    {"packed_in_place", lane_packed_in_place},
    {"index", lane_index},
    {"division_faults", lane_division_faults},
    {"random_programs", lane_random_programs},
    {0},
};
