/* unary.c - functions of one element. */
#include "oracle/oracle.h"

#include <float.h>

/* a, b, c: attributes, as float32. */
typedef long double unary_fn(long double x, long double a, long double b, long double c);

typedef struct unary_attrs {
    const char *text;
    float a, b, c;
} unary_attrs;

typedef struct unary {
    unary_fn *f;
    long double ulps;     /* error allowed, in units of the last place in which it is computed */
    long double share;    /* and as a share of x, where terms cancel */
    unary_attrs attrs[3]; /* sets to try; integers use the first text */
    uint64_t (*integer)(holo_dtype type, uint64_t x);
} unary;

static long double unary_sign(long double x)
{
    if (isnan(x)) return x;
    return (long double)((x > 0) - (x < 0));
}

static long double unary_logistic(long double x)
{
    return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
}

static long double unary_softplus(long double x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double unary_clamp01(long double x)
{
    if (isnan(x)) return x;
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* x * s where x = -inf and s = 0 has the limit 0, and NaN by the formula: both are no number to
 * hold an operator to, so -inf is left out of their inputs (see unary_avoid). */
static long double unary_gelu(long double x, long double tanh_form)
{
    if (tanh_form == 0) return 0.5L * x * erfcl(-x / sqrtl(2));
    return 0.5L * x * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x)));
}

#define UNARY(name, formula)                                                                       \
    static long double unary_##name(long double x, long double a, long double b, long double c)    \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return formula;                                                                            \
    }
UNARY(abs_, fabsl(x))
UNARY(acos_, acosl(x))
UNARY(acosh_, acoshl(x))
UNARY(asin_, asinl(x))
UNARY(asinh_, asinhl(x))
UNARY(atan_, atanl(x))
UNARY(atanh_, atanhl(x))
UNARY(ceil_, ceill(x))
UNARY(celu_, isnan(x) ? x : x > 0 ? x : a * expm1l(x / a))
UNARY(cos_, cosl(x))
UNARY(cosh_, coshl(x))
UNARY(elu_, isnan(x) ? x : x < 0 ? a * expm1l(x) : x)
UNARY(erf_, erfl(x))
UNARY(exp_, expl(x))
UNARY(floor_, floorl(x))
UNARY(gelu_, unary_gelu(x, a))
UNARY(hardsigmoid_, unary_clamp01(a *x + b))
UNARY(hardswish_, x *unary_clamp01(x / 6 + 0.5L))
UNARY(leakyrelu_, x < 0 ? a * x : x)
UNARY(log_, logl(x))
UNARY(mish_, x *tanhl(unary_softplus(x)))
UNARY(neg_, -x)
UNARY(reciprocal_, 1 / x)
UNARY(relu_, isnan(x) ? x : x > 0 ? x : 0)
UNARY(round_, rintl(x))
UNARY(selu_, isnan(x) ? x : x > 0 ? b * x : b * a * expm1l(x))
UNARY(shrink_, x<-b ? x + a : x> b ? x - a : 0)
UNARY(sigmoid_, unary_logistic(x))
UNARY(sign_, unary_sign(x))
UNARY(sin_, sinl(x))
UNARY(sinh_, sinhl(x))
UNARY(softplus_, unary_softplus(x))
UNARY(softsign_, x / (1 + fabsl(x)))
UNARY(sqrt_, sqrtl(x))
UNARY(swish_, x *unary_logistic(a *x))
UNARY(tan_, tanl(x))
UNARY(tanh_, tanhl(x))
UNARY(thresholdedrelu_, x > a ? x : 0)
#undef UNARY

/* ---- floats ------------------------------------------------------------------------------------
 */

static holo_dtype unary_compute_type(holo_dtype type)
{
    return type == HOLO_F64 ? HOLO_F64 : HOLO_F32;
}

static void unary_float(const ora_row *row, const unary_attrs *at, const ora *x)
{
    const unary *u = row->data;
    ora *y = ora_like(x, x->type);
    const holo_dtype wide_type = unary_compute_type(x->type);
    for (int64_t k = 0; k < x->count; k++) {
        const long double in = x->v[k].re, r = u->f(in, at->a, at->b, at->c);
        y->v[k].re = r;
        if (isfinite(r) && u->ulps > 0) {
            y->v[k].tol = u->ulps * ora_ulp(wide_type, r);
            if (isfinite(in)) y->v[k].tol += u->share * ora_eps(x->type) * fabsl(in);
            if (r == 0) y->v[k].tol += LDBL_MIN; /* a zero of either sign */
        }
    }
    ORA_CHECK(row->op, at->text, ORA_IN(x), ORA_OUT(y));
}

/* Where the standard's formula is inf * 0 or inf - inf: any answer of it is as good. */
static bool unary_undefined(const char *op, long double x)
{
    const bool product = strcmp(op, "Gelu") == 0 || strcmp(op, "Mish") == 0 ||
                         strcmp(op, "Swish") == 0 || strcmp(op, "HardSwish") == 0;
    if (product) return x < -1e30L || isinf(x);
    return strcmp(op, "Softsign") == 0 && isinf(x);
}

static ora *unary_avoid(const char *op, ora *x)
{
    for (int64_t k = 0; k < x->count; k++)
        if (unary_undefined(op, x->v[k].re)) x->v[k].re = -30;
    return x;
}

static ora *unary_scaled(holo_dtype type, const char *dims, long double scale)
{
    ora *x = ora_make(type, dims, ORA_UNIT, 7);
    for (int64_t k = 0; k < x->count; k++)
        x->v[k].re = ora_round(type, x->v[k].re * scale);
    return x;
}

static void unary_run_attrs(const ora_row *row, const unary_attrs *at, holo_dtype type)
{
    unary_float(row, at, ora_make(type, "2,3", ORA_SMALL, 1));
    unary_float(row, at, ora_make(type, "", ORA_SMALL, 3));
    unary_float(row, at, ora_make(type, "0,3", ORA_SMALL, 1));
    unary_float(row, at, ora_make(type, "67", ORA_UNIT, 2));
    unary_float(row, at, unary_scaled(type, "3,1,23", 30));
    unary_float(row, at, unary_avoid(row->op, ora_make(type, "16", ORA_EDGE, 0)));
}

static void unary_run(const ora_row *row)
{
    const unary *u = row->data;
    ORA_EACH_TYPE(type, row->op, "T")
    {
        if (!ora_is_float(type)) continue;
        unary_run_attrs(row, &u->attrs[0], type);
        for (size_t k = 1; k < 3 && u->attrs[k].text != NULL; k++)
            unary_run_attrs(row, &u->attrs[k], type);
    }
}

/* Erf-9 takes integers: 1 only where the double nearest to the result is. */
static void unary_erf(const ora_row *row)
{
    unary_run(row);
    for (holo_dtype type = HOLO_F32; type <= HOLO_U64; type = (holo_dtype)(type + 1)) {
        if (!ora_is_int(type)) continue;
        ora *x = ora_of(type, "6", "0 1 5 6 7 100"), *y = ora_of(type, "6", "0 0 0 1 1 1");
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(y), .opset = 9);
    }
}

/* ---- integers ----------------------------------------------------------------------------------
 */

static bool unary_negative(holo_dtype type, uint64_t x)
{
    return ora_is_signed(type) && (int64_t)x < 0;
}

#define UNARY_INT(name, formula)                                                                   \
    static uint64_t unary_int_##name(holo_dtype type, uint64_t x)                                  \
    {                                                                                              \
        const bool negative = unary_negative(type, x);                                             \
        (void)negative;                                                                            \
        return ora_wrap(type, formula);                                                            \
    }
UNARY_INT(abs, negative ? 0 - x : x)
UNARY_INT(neg, 0 - x)
UNARY_INT(relu, negative ? 0 : x)
UNARY_INT(sign, negative ? UINT64_MAX : x != 0)
UNARY_INT(not, ~x)
UNARY_INT(shrink, negative && (int64_t)x < -1 ? x + 1 : !negative && x > 1 ? x - 1 : 0)
#undef UNARY_INT

static void unary_int_check(const ora_row *row, const char *attrs, const ora *x)
{
    const unary *u = row->data;
    ora *y = ora_like(x, x->type);
    for (int64_t k = 0; k < x->count; k++)
        y->v[k].i = u->integer(x->type, x->v[k].i);
    ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
}

static void unary_int_run(const ora_row *row)
{
    const unary *u = row->data;
    if (u->f != NULL) unary_run(row);
    ORA_EACH_TYPE(type, row->op, "T")
    {
        if (!ora_is_int(type)) continue;
        const char *attrs = u->attrs[0].text;
        unary_int_check(row, attrs, ora_make(type, "3,11", ORA_EDGE, 0));
        unary_int_check(row, attrs, ora_make(type, "71", ORA_SMALL, 0));
        unary_int_check(row, attrs, ora_make(type, "", ORA_EDGE, 0));
        unary_int_check(row, attrs, ora_make(type, "2,0", ORA_EDGE, 0));
    }
}

/* ---- answers that are bool
 * ----------------------------------------------------------------------- */

static void unary_not(const ora_row *row)
{
    static const char *const shapes[] = {"5,3", "", "0"};
    for (size_t k = 0; k < 3; k++) {
        const ora *x = ora_make(HOLO_BOOL, shapes[k], ORA_SMALL, 5);
        ora *y = ora_like(x, HOLO_BOOL);
        for (int64_t i = 0; i < x->count; i++)
            y->v[i].i = x->v[i].i == 0;
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(y));
    }
}

static void unary_class(const ora_row *row, const char *attrs, const ora *x, bool plus, bool minus,
                        bool nan)
{
    ora *y = ora_like(x, HOLO_BOOL);
    for (int64_t i = 0; i < x->count; i++) {
        const long double v = x->v[i].re;
        y->v[i].i = isnan(v) ? nan : isinf(v) && (v > 0 ? plus : minus);
    }
    ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
}

static void unary_isnan(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        unary_class(row, NULL, ora_make(type, "256", ORA_EDGE, 0), false, false, true);
        unary_class(row, NULL, ora_make(type, "", ORA_EDGE, 10), false, false, true);
        unary_class(row, NULL, ora_make(type, "0", ORA_EDGE, 0), false, false, true);
    }
}

static void unary_isinf(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T1")
    {
        const ora *x = ora_make(type, "16,16", ORA_EDGE, 0);
        unary_class(row, NULL, x, true, true, false);
        unary_class(row, "detect_negative=0", x, true, false, false);
        unary_class(row, "detect_positive=0", x, false, true, false);
        unary_class(row, "detect_positive=0 detect_negative=0", x, false, false, false);
        unary_class(row, NULL, ora_make(type, "", ORA_EDGE, 11), true, true, false);
        unary_class(row, NULL, ora_make(type, "3,0", ORA_EDGE, 0), true, true, false);
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

#define F(...)                                                                                     \
    unary_run, &(const unary)                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define I(...)                                                                                     \
    unary_int_run, &(const unary)                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define A(t, x, y, z)                                                                              \
    {                                                                                              \
        .text = (t), .a = (x), .b = (y), .c = (z)                                                  \
    }
/* clang-format off */
const ora_row ora_rows_unary[] = {
    {"Abs", I(.f = unary_abs_, .integer = unary_int_abs)},
    {"Acos", F(.f = unary_acos_, .ulps = 4)},
    {"Acosh", F(.f = unary_acosh_, .ulps = 4)},
    {"Asin", F(.f = unary_asin_, .ulps = 4)},
    {"Asinh", F(.f = unary_asinh_, .ulps = 4)},
    {"Atan", F(.f = unary_atan_, .ulps = 4)},
    {"Atanh", F(.f = unary_atanh_, .ulps = 4)},
    {"BitwiseNot", I(.integer = unary_int_not)},
    {"Ceil", F(.f = unary_ceil_)},
    {"Celu", F(.f = unary_celu_, .ulps = 4, .attrs = {A(NULL, 1, 0, 0), A("alpha=2.5", 2.5F, 0, 0), A("alpha=-0.5", -0.5F, 0, 0)})},
    {"Cos", F(.f = unary_cos_, .ulps = 4)},
    {"Cosh", F(.f = unary_cosh_, .ulps = 4)},
    {"Elu", F(.f = unary_elu_, .ulps = 4, .attrs = {A(NULL, 1, 0, 0), A("alpha=0.3", 0.3F, 0, 0)})},
    {"Erf", unary_erf, &(const unary){.f = unary_erf_, .ulps = 4}},
    {"Exp", F(.f = unary_exp_, .ulps = 4)},
    {"Floor", F(.f = unary_floor_)},
    {"Gelu", F(.f = unary_gelu_, .ulps = 4, .share = 4, .attrs = {A(NULL, 0, 0, 0), A("approximate=\"tanh\"", 1, 0, 0), A("approximate=\"none\"", 0, 0, 0)})},
    {"HardSigmoid", F(.f = unary_hardsigmoid_, .ulps = 2, .share = 1, .attrs = {A(NULL, 0.2F, 0.5F, 0), A("alpha=-1.5 beta=0.25", -1.5F, 0.25F, 0)})},
    {"HardSwish", F(.f = unary_hardswish_, .ulps = 4, .share = 1)},
    {"IsInf", unary_isinf, NULL},
    {"IsNaN", unary_isnan, NULL},
    {"LeakyRelu", F(.f = unary_leakyrelu_, .ulps = 1, .attrs = {A(NULL, 0.01F, 0, 0), A("alpha=-2.0", -2, 0, 0)})},
    {"Log", F(.f = unary_log_, .ulps = 4)},
    {"Mish", F(.f = unary_mish_, .ulps = 6)},
    {"Neg", I(.f = unary_neg_, .integer = unary_int_neg)},
    {"Not", unary_not, NULL},
    {"Reciprocal", F(.f = unary_reciprocal_)},
    {"Relu", I(.f = unary_relu_, .ulps = 1, .integer = unary_int_relu)},
    {"Round", F(.f = unary_round_)},
    {"Selu", F(.f = unary_selu_, .ulps = 4, .attrs = {A(NULL, 1.67326319217681884765625F, 1.05070102214813232421875F, 0), A("alpha=0.5 gamma=3.0", 0.5F, 3, 0)})},
    {"Shrink", I(.f = unary_shrink_, .ulps = 1, .integer = unary_int_shrink, .attrs = {A("bias=1.0 lambd=1.5", 1, 1.5F, 0), A("lambd=0.25", 0, 0.25F, 0)})},
    {"Sigmoid", F(.f = unary_sigmoid_, .ulps = 4)},
    {"Sign", I(.f = unary_sign_, .ulps = 1, .integer = unary_int_sign)},
    {"Sin", F(.f = unary_sin_, .ulps = 4)},
    {"Sinh", F(.f = unary_sinh_, .ulps = 4)},
    {"Softplus", F(.f = unary_softplus_, .ulps = 4)},
    {"Softsign", F(.f = unary_softsign_, .ulps = 2)},
    {"Sqrt", F(.f = unary_sqrt_)},
    {"Swish", F(.f = unary_swish_, .ulps = 6, .attrs = {A(NULL, 1, 0, 0), A("alpha=-0.75", -0.75F, 0, 0)})},
    {"Tan", F(.f = unary_tan_, .ulps = 4)},
    {"Tanh", F(.f = unary_tanh_, .ulps = 4)},
    {"ThresholdedRelu", F(.f = unary_thresholdedrelu_, .ulps = 1, .attrs = {A(NULL, 1, 0, 0), A("alpha=-0.5", -0.5F, 0, 0)})},
    {NULL, NULL, NULL},
};
/* clang-format on */
#undef F
#undef I
#undef A

static void unary_rows(void)
{
    ora_run(ora_rows_unary);
}

const hg_test_case hg_tests_oracle_unary[] = {{"rows", unary_rows}, {0}};
