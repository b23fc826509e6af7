/* binary.c - functions of two or more elements that broadcast. */
#include "oracle/oracle.h"

#include <float.h>

typedef wide binary_fn(holo_dtype type, const wide *a, const wide *b);

typedef struct binary {
    binary_fn *f;
    const char *attrs;
    bool boolean;     /* the output is bool */
    bool no_zero;     /* the second operand is never 0 when it is an integer */
    bool one_way;     /* only the second operand broadcasts */
    bool floats_only; /* with these attributes */
    bool integers_only;
} binary;

/* ---- formulas ----------------------------------------------------------------------------------
 */

static wide binary_int(holo_dtype type, uint64_t value)
{
    return (wide){.i = ora_wrap(type, value)};
}

#define BINARY(name, integer, real)                                                                \
    static wide binary_##name(holo_dtype type, const wide *a, const wide *b)                       \
    {                                                                                              \
        if (ora_is_float(type)) return (wide){.re = (real)};                                       \
        return binary_int(type, integer);                                                          \
    }
BINARY(add, a->i + b->i, a->re + b->re)
BINARY(sub, a->i - b->i, a->re - b->re)
BINARY(mul, a->i * b->i, a->re * b->re)
BINARY(bitand, a->i & b->i, 0)
BINARY(bitor, a->i | b->i, 0)
BINARY(bitxor, a->i ^ b->i, 0)
#undef BINARY

/* Towards zero, as C does; the one quotient that is too large wraps. */
static uint64_t binary_quotient(holo_dtype type, uint64_t a, uint64_t b)
{
    if (!ora_is_signed(type)) return a / b;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static wide binary_div(holo_dtype type, const wide *a, const wide *b)
{
    if (ora_is_float(type)) return (wide){.re = a->re / b->re};
    return binary_int(type, binary_quotient(type, a->i, b->i));
}

static wide binary_fmod(holo_dtype type, const wide *a, const wide *b)
{
    if (ora_is_float(type)) return (wide){.re = fmodl(a->re, b->re)};
    return binary_int(type, a->i - binary_quotient(type, a->i, b->i) * b->i);
}

/* The sign of the divisor. */
static wide binary_mod(holo_dtype type, const wide *a, const wide *b)
{
    uint64_t r = a->i - binary_quotient(type, a->i, b->i) * b->i;
    if (r != 0 && ora_is_signed(type) && ((int64_t)r < 0) != ((int64_t)b->i < 0)) r += b->i;
    return binary_int(type, r);
}

static wide binary_shift_left(holo_dtype type, const wide *a, const wide *b)
{
    return binary_int(type, b->i >= (uint64_t)ora_bits(type) ? 0 : a->i << b->i);
}

static wide binary_shift_right(holo_dtype type, const wide *a, const wide *b)
{
    return binary_int(type, b->i >= (uint64_t)ora_bits(type) ? 0 : a->i >> b->i);
}

static wide binary_prelu(holo_dtype type, const wide *a, const wide *b)
{
    if (ora_is_float(type)) return (wide){.re = a->re < 0 ? a->re * b->re : a->re};
    return ora_int_less(type, a->i, 0) ? binary_int(type, a->i * b->i) : *a;
}

/* Negative, zero or positive; 2 when either is NaN. */
static int binary_order(holo_dtype type, const wide *a, const wide *b)
{
    if (type == HOLO_STRING)
        return a->s.length != b->s.length || memcmp(a->s.text, b->s.text, a->s.length) != 0;
    if (ora_is_float(type)) {
        if (isnan(a->re) || isnan(b->re)) return 2;
        return (a->re > b->re) - (a->re < b->re);
    }
    return ora_int_less(type, b->i, a->i) - ora_int_less(type, a->i, b->i);
}

#define COMPARE(name, condition)                                                                   \
    static wide binary_##name(holo_dtype type, const wide *a, const wide *b)                       \
    {                                                                                              \
        const int order = binary_order(type, a, b);                                                \
        return (wide){.i = (condition)};                                                           \
    }
COMPARE(equal, order == 0)
COMPARE(greater, order == 1)
COMPARE(greaterorequal, order == 0 || order == 1)
COMPARE(less, order == -1)
COMPARE(lessorequal, order == 0 || order == -1)
#undef COMPARE

static wide binary_and(holo_dtype type, const wide *a, const wide *b)
{
    (void)type;
    return (wide){.i = a->i & b->i};
}

static wide binary_or(holo_dtype type, const wide *a, const wide *b)
{
    (void)type;
    return (wide){.i = a->i | b->i};
}

static wide binary_xor(holo_dtype type, const wide *a, const wide *b)
{
    (void)type;
    return (wide){.i = a->i ^ b->i};
}

/* A NaN anywhere is the answer; which zero wins is open. */
static wide binary_pick(holo_dtype type, const wide *a, const wide *b, int sign)
{
    const int order = binary_order(type, a, b);
    if (order == 2) return (wide){.re = NAN};
    wide w = order * sign >= 0 ? *a : *b;
    if (ora_is_float(type) && w.re == 0) w.tol = LDBL_MIN;
    return w;
}

static wide binary_max(holo_dtype type, const wide *a, const wide *b)
{
    return binary_pick(type, a, b, 1);
}

static wide binary_min(holo_dtype type, const wide *a, const wide *b)
{
    return binary_pick(type, a, b, -1);
}

/* ---- two operands ------------------------------------------------------------------------------
 */

static void binary_check(const ora_row *row, const binary *f, ora *a, ora *b)
{
    ora *y = ora_broadcast_new(f->boolean ? HOLO_BOOL : a->type, 2, (ora *const[]){a, b});
    int64_t index[HOLO_MAX_RANK];
    if (f->no_zero && ora_is_int(b->type))
        for (int64_t k = 0; k < b->count; k++)
            if (b->v[k].i == 0) b->v[k].i = 3;
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, index);
        const wide *p = ora_broadcast_at(a, y->rank, index),
                   *q = ora_broadcast_at(b, y->rank, index);
        y->v[k] = f->f(a->type, p, q);
    }
    ORA_CHECK(row->op, f->attrs, ORA_IN(a, b), ORA_OUT(y));
}

static void binary_type(const ora_row *row, const binary *f, holo_dtype type)
{
    static const struct {
        const char *a, *b;
        bool two_ways;
    } shapes[] = {{"2,3", "2,3", false}, {"2,3", "", false},      {"", "", false},
                  {"0,3", "1,3", false}, {"2,4,3", "4,1", false}, {"3,1,2", "1,5,1", true},
                  {"1", "7", true},      {"", "2,0", true},       {"4", "2,1,3,1", true}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        if (f->one_way && shapes[k].two_ways) continue;
        const uint32_t seed = 2 * (uint32_t)k;
        binary_check(row, f, ora_make(type, shapes[k].a, ORA_SMALL, seed),
                     ora_make(type, shapes[k].b, ORA_SMALL, seed + 1));
    }
    /* Every special value with every other. */
    binary_check(row, f, ora_make(type, "16,16", ORA_EDGE, 0), ora_make(type, "16", ORA_EDGE, 0));
    ora *a = ora_make(type, "16,16", ORA_SMALL, 0);
    for (int64_t k = 0; k < a->count; k++)
        a->v[k] = ora_make(type, "1", ORA_EDGE, (uint32_t)(k / 16))->v[0];
    binary_check(row, f, a, ora_make(type, "16", ORA_EDGE, 0));
    binary_check(row, f, ora_make(type, "131", ORA_UNIT, 3), ora_make(type, "131", ORA_UNIT, 4));
}

/* The data of a row is a list that ends with an empty formula. */
static void binary_run(const ora_row *row)
{
    for (const binary *f = row->data; f->f != NULL; f++)
        ORA_EACH_TYPE(type, row->op, "T")
        {
            if (f->floats_only && !ora_is_float(type)) continue;
            if (f->integers_only && !ora_is_int(type)) continue;
            binary_type(row, f, type);
        }
}

static void binary_divisor_zero(const ora_row *row)
{
    binary_run(row);
    ORA_EACH_TYPE(type, row->op, "T")
    {
        if (!ora_is_int(type)) continue;
        const ora *a = ora_of(type, "3", "1 2 3"), *b = ora_of(type, "3", "1 0 3");
        ORA_REFUSE("integer division by zero at element 1", row->op, NULL, ORA_IN(a, b),
                   ORA_OUT(a));
    }
}

/* ---- any number of operands --------------------------------------------------------------------
 */

typedef struct many {
    binary_fn *f;
    bool mean;
} many;

static void many_check(const ora_row *row, size_t n, ora *const *in)
{
    const many *m = row->data;
    ora_case c = {.op = row->op, .n_in = n, .n_out = 1};
    ora *y = ora_broadcast_new(in[0]->type, n, in);
    int64_t index[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, index);
        wide w = *ora_broadcast_at(in[0], y->rank, index);
        long double size = fabsl(w.re);
        for (size_t j = 1; j < n; j++) {
            const wide *next = ora_broadcast_at(in[j], y->rank, index);
            w = m->f(y->type, &w, next);
            size += fabsl(next->re);
        }
        if (m->mean || m->f == binary_add) {
            if (m->mean) w.re /= (long double)n;
            if (n > 1 && isfinite(size)) w.tol = (long double)n * ora_eps(y->type) * size;
        }
        y->v[k] = w;
    }
    for (size_t k = 0; k < n; k++)
        c.in[k] = in[k];
    c.out[0] = y;
    ora_check(&c);
}

/* A mean may overflow on the way: such numbers are left out. */
static ora *many_edges(const many *m, holo_dtype type, const char *dims)
{
    ora *t = ora_make(type, dims, ORA_EDGE, 0);
    for (int64_t k = 0; m->mean && k < t->count; k++)
        if (isfinite(t->v[k].re) && fabsl(t->v[k].re) > 1e4L) t->v[k].re = 7;
    return t;
}

static void many_run(const ora_row *row)
{
    const many *m = row->data;
    ORA_EACH_TYPE(type, row->op, "T")
    {
        ora *const small[] = {ora_make(type, "2,3", ORA_SMALL, 1),
                              ora_make(type, "3", ORA_SMALL, 2), ora_make(type, "", ORA_SMALL, 3),
                              ora_make(type, "4,1,1", ORA_SMALL, 4),
                              ora_make(type, "2,1", ORA_SMALL, 5)};
        for (size_t n = 1; n <= 5; n++)
            many_check(row, n, small);
        many_check(row, 1, (ora *const[]){many_edges(m, type, "17")});
        many_check(row, 2, (ora *const[]){many_edges(m, type, "16,1"), many_edges(m, type, "16")});
        many_check(
            row, 2,
            (ora *const[]){ora_make(type, "0,2", ORA_EDGE, 0), ora_make(type, "2", ORA_EDGE, 0)});
        many_check(row, 3,
                   (ora *const[]){ora_make(type, "99", ORA_UNIT, 0),
                                  ora_make(type, "99", ORA_UNIT, 1),
                                  ora_make(type, "99", ORA_UNIT, 2)});
    }
}

/* ---- Pow ---------------------------------------------------------------------------------------
 */

static void binary_pow_check(ora *a, ora *b)
{
    ora *y = ora_broadcast_new(a->type, 2, (ora *const[]){a, b});
    int64_t index[HOLO_MAX_RANK];
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(y, k, index);
        const wide *p = ora_broadcast_at(a, y->rank, index),
                   *q = ora_broadcast_at(b, y->rank, index);
        const long double r = powl(ora_real(a->type, p), ora_real(b->type, q));
        if (ora_is_float(a->type)) {
            y->v[k].re = r;
            const holo_dtype wide_type = a->type == HOLO_F64 ? HOLO_F64 : HOLO_F32;
            if (isfinite(r)) y->v[k].tol = 2 * ora_ulp(wide_type, r) + (r == 0 ? LDBL_MIN : 0);
        } else if (ora_is_int(b->type)) {
            uint64_t power = 1; /* modulo the width, as products of integers are */
            for (uint64_t j = 0; j < q->i; j++)
                power *= p->i;
            y->v[k].i = ora_wrap(a->type, power);
        } else {
            y->v[k] = ora_wide(a->type, truncl(r));
        }
    }
    ORA_CHECK("Pow", NULL, ORA_IN(a, b), ORA_OUT(y));
}

static void binary_pow_types(holo_dtype base, holo_dtype exponent)
{
    if (ora_is_int(base)) {
        const char *few = ora_is_float(exponent) ? "0 1 2 3 1 2 0" : "0 1 2 3 31 40 64";
        binary_pow_check(ora_of(base, "6,1", "0 1 -1 2 3 -7"), ora_of(exponent, "7", few));
        if (ora_is_float(exponent))
            binary_pow_check(ora_of(base, "3", "4 9 100"), ora_of(exponent, "3", "0.5 1.5 -1"));
        return;
    }
    binary_pow_check(ora_make(base, "16,1", ORA_EDGE, 0), ora_of(exponent, "5", "0 1 2 3 5"));
    binary_pow_check(ora_make(base, "", ORA_SMALL, 1), ora_make(exponent, "", ORA_SMALL, 3));
    binary_pow_check(ora_make(base, "0,3", ORA_SMALL, 1), ora_make(exponent, "3", ORA_SMALL, 3));
    if (ora_is_signed(exponent) || ora_is_float(exponent))
        binary_pow_check(ora_make(base, "2,9", ORA_SMALL, 1), ora_of(exponent, "2,1", "-1 -3"));
    if (ora_is_float(exponent))
        binary_pow_check(ora_make(base, "16,1", ORA_EDGE, 0),
                         ora_make(exponent, "13", ORA_EDGE, 0));
}

static void binary_pow(const ora_row *row)
{
    ORA_EACH_TYPE(base, row->op, "T")
    ORA_EACH_TYPE(exponent, row->op, "T1") binary_pow_types(base, exponent);
}

/* ---- Clip --------------------------------------------------------------------------------------
 */

/* Min(max, Max(x, min)); a NaN stays. */
static void binary_clip_check(const ora *x, const ora *low, const ora *high)
{
    ora *y = ora_like(x, x->type);
    for (int64_t k = 0; k < x->count; k++) {
        wide w = x->v[k];
        if (!isnan(w.re)) {
            if (low != NULL && binary_order(x->type, &w, low->v) < 0) w = low->v[0];
            if (high != NULL && binary_order(x->type, &w, high->v) == 1) w = high->v[0];
        }
        if (ora_is_float(x->type) && w.re == 0) w.tol = LDBL_MIN;
        y->v[k] = w;
    }
    ORA_CHECK("Clip", NULL, ORA_IN(x, low, high), ORA_OUT(y));
}

static void binary_clip(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        const ora *low = ora_of(type, "", "1"), *high = ora_of(type, "", "4");
        const ora *x = ora_make(type, "3,17", ORA_EDGE, 0),
                  *small = ora_make(type, "", ORA_SMALL, 4);
        binary_clip_check(x, low, high);
        binary_clip_check(x, high, low); /* min above max: all are max */
        binary_clip_check(x, low, NULL);
        binary_clip_check(x, NULL, high);
        binary_clip_check(x, NULL, NULL);
        binary_clip_check(x, ora_make(type, "", ORA_EDGE, 0), ora_make(type, "", ORA_EDGE, 1));
        binary_clip_check(small, low, high);
        binary_clip_check(ora_shape(type, "0,2"), low, high);
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

#define B(...)                                                                                     \
    binary_run, (const binary[])                                                                   \
    {                                                                                              \
        {__VA_ARGS__},                                                                             \
        {                                                                                          \
            .f = NULL                                                                              \
        }                                                                                          \
    }
#define M(...)                                                                                     \
    many_run, &(const many)                                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* clang-format off */
const ora_row ora_rows_binary[] = {
    {"Add", B(.f = binary_add)},
    {"And", B(.f = binary_and, .boolean = true)},
    {"BitShift", binary_run, (const binary[]){{.f = binary_shift_left, .attrs = "direction=\"LEFT\""},
                                              {.f = binary_shift_right, .attrs = "direction=\"RIGHT\""}, {.f = NULL}}},
    {"BitwiseAnd", B(.f = binary_bitand)},
    {"BitwiseOr", B(.f = binary_bitor)},
    {"BitwiseXor", B(.f = binary_bitxor)},
    {"Clip", binary_clip, NULL},
    {"Div", binary_divisor_zero, (const binary[]){{.f = binary_div, .no_zero = true}, {.f = NULL}}},
    {"Equal", B(.f = binary_equal, .boolean = true)},
    {"Greater", B(.f = binary_greater, .boolean = true)},
    {"GreaterOrEqual", B(.f = binary_greaterorequal, .boolean = true)},
    {"Less", B(.f = binary_less, .boolean = true)},
    {"LessOrEqual", B(.f = binary_lessorequal, .boolean = true)},
    {"Max", M(.f = binary_max)},
    {"Mean", M(.f = binary_add, .mean = true)},
    {"Min", M(.f = binary_min)},
    {"Mod", binary_divisor_zero, (const binary[]){{.f = binary_mod, .no_zero = true, .integers_only = true},
                                                  {.f = binary_fmod, .attrs = "fmod=1", .no_zero = true}, {.f = NULL}}},
    {"Mul", B(.f = binary_mul)},
    {"Or", B(.f = binary_or, .boolean = true)},
    {"PRelu", B(.f = binary_prelu, .one_way = true)},
    {"Pow", binary_pow, NULL},
    {"Sub", B(.f = binary_sub)},
    {"Sum", M(.f = binary_add)},
    {"Xor", B(.f = binary_xor, .boolean = true)},
    {NULL, NULL, NULL},
};
/* clang-format on */
#undef B
#undef M

static void binary_rows(void)
{
    ora_run(ora_rows_binary);
}

const hg_test_case hg_tests_oracle_binary[] = {{"rows", binary_rows}, {0}};
