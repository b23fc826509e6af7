/* cast.c - conversions: every type to every other. */
#include "oracle/oracle.h"

#include <float.h>
#include <stdio.h>

static bool cast_is_float8(holo_dtype type)
{
    return type == HOLO_F8E4M3FN || type == HOLO_F8E4M3FNUZ || type == HOLO_F8E5M2 ||
           type == HOLO_F8E5M2FNUZ;
}

/* ---- expected values ---------------------------------------------------------------------------
 */

/* By the tables of the standard. */
static long double cast_to_float8(holo_dtype to, long double x, bool saturate)
{
    const long double largest = ora_max_finite(to);
    if (isnan(x)) return NAN;
    const long double r = isinf(x) ? x : rintl(x / ora_ulp(to, x)) * ora_ulp(to, x);
    if (fabsl(r) <= largest) return r == 0 ? copysignl(0, x) : r;
    if (saturate) return copysignl(largest, x);
    return to == HOLO_F8E5M2 ? copysignl(INFINITY, x) : NAN;
}

static long double cast_to_power(long double x, const char *mode, bool saturate)
{
    if (isnan(x)) return NAN;
    const long double least = 0x1p-127L, most = 0x1p127L;
    if (x == 0) return saturate ? least : NAN;
    if (isinf(x)) return saturate ? most : NAN;
    const long double low = ldexpl(1, ilogbl(x)), high = x == low ? low : 2 * low;
    long double r = strcmp(mode, "up") == 0 ? high : low;
    if (strcmp(mode, "nearest") == 0) r = x - low < high - x ? low : high;
    if (r > most) return saturate ? most : NAN;
    if (r < least) return saturate ? least : NAN;
    return r;
}

static wide cast_number(holo_dtype from, holo_dtype to, const wide *w, bool saturate)
{
    const long double x = ora_real(from, w);
    wide y = {0};
    if (to == HOLO_BOOL)
        y.i = isnan(x) || x != 0;
    else if (ora_is_int(to) && ora_is_float(from))
        y = ora_wide(to, truncl(x));
    else if (ora_is_int(to))
        y.i = ora_wrap(to, w->i);
    else if (cast_is_float8(to))
        y.re = cast_to_float8(to, x, saturate);
    else if (to == HOLO_F8E8M0)
        y.re = cast_to_power(x, "up", saturate);
    else if (to == HOLO_F4E2M1 && isinf(x))
        y.re = copysignl(6, x);
    else
        y.re = x;
    return y;
}

/* ---- inputs ------------------------------------------------------------------------------------
 */

/* Whether the standard says what comes out. */
static bool cast_defined(holo_dtype from, holo_dtype to, const wide *w)
{
    const long double x = ora_real(from, w);
    if (to == HOLO_F8E8M0) return isnan(x) || x > 0 || (x == 0 && !signbit(x));
    if (to == HOLO_F4E2M1) return !isnan(x);
    if (!ora_is_int(to) || !ora_is_float(from)) return true;
    return isfinite(x) && truncl(x) >= (long double)ora_int_min(to) &&
           truncl(x) <= (long double)ora_int_max(to);
}

/* Numbers that are hard to round: ties, ties of another precision, limits. */
static ora *cast_input(holo_dtype from, holo_dtype to)
{
    static const long double hard[] = {1 + 0x1p-11L,
                                       1 + 0x1p-11L + 0x1p-30L,
                                       1 + 0x1p-8L,
                                       1 + 0x1p-8L + 0x1p-40L,
                                       1 + 3 * 0x1p-11L,
                                       1 + 0x1p-24L,
                                       1 + 3 * 0x1p-24L,
                                       65519.9L,
                                       65520,
                                       448,
                                       464,
                                       464.5L,
                                       240,
                                       248,
                                       247.9L,
                                       57344,
                                       61440,
                                       61439,
                                       0x1p-9L,
                                       0x1p-10L,
                                       0x1.8p-10L,
                                       0x1p-24L,
                                       0x1p-25L,
                                       0x1.8p-25L,
                                       0x1p-133L,
                                       0x1p-149L,
                                       0.25L,
                                       0.75L,
                                       2.5L,
                                       3.5L,
                                       5,
                                       7.9L,
                                       -0.9L,
                                       254.9L,
                                       -128.9L,
                                       16777217,
                                       33554435,
                                       9007199254740993.0L,
                                       1152921504606846977.0L,
                                       127.5L,
                                       1.0625L + 0x1p-30L,
                                       0x1p-17L,
                                       0x1.1p-7L};
    const int64_t n_hard = (int64_t)(sizeof hard / sizeof *hard);
    const int64_t n_edge = ora_bits(from) <= 8 && !ora_is_int(from) ? 256 : 32;
    ora *x = ora_new(from, 1, (int64_t[]){n_hard + n_edge});
    const ora *edge = ora_make(from, "256", ORA_EDGE, 0);
    for (int64_t k = 0; k < n_edge; k++)
        x->v[k] = edge->v[k];
    for (int64_t k = 0; k < n_hard; k++) {
        const long double h = hard[k];
        if (ora_is_float(from))
            x->v[n_edge + k].re = ora_round(from, from == HOLO_F8E8M0 ? fabsl(h) : h);
        else if (h >= 0 && h < 0x1p62L)
            x->v[n_edge + k].i = from == HOLO_BOOL ? h > 1 : ora_wrap(from, (uint64_t)h);
    }
    for (int64_t k = 0; k < x->count; k++)
        if (!cast_defined(from, to, &x->v[k])) x->v[k] = ora_wide(from, 1);
    return x;
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static void cast_check(const char *op, const ora *x, holo_dtype to, bool saturate)
{
    ora *y = ora_like(x, to);
    char attrs[60];
    for (int64_t k = 0; k < x->count; k++)
        y->v[k] = cast_number(x->type, to, &x->v[k], saturate);
    if (strcmp(op, "CastLike") == 0) {
        snprintf(attrs, sizeof attrs, "saturate=%d", saturate);
        ORA_CHECK(op, attrs, ORA_IN(x, ora_make(to, "3", ORA_EDGE, 0)), ORA_OUT(y));
    } else {
        snprintf(attrs, sizeof attrs, "to=%d saturate=%d", (int)to, saturate);
        ORA_CHECK(op, attrs, ORA_IN(x), ORA_OUT(y));
    }
}

static void cast_pair(const char *op, holo_dtype from, holo_dtype to)
{
    if (from == HOLO_STRING || to == HOLO_STRING) return;
    if (from == to && cast_is_float8(to)) return; /* nothing is converted: an infinity stays */
    const ora *x = cast_input(from, to);
    cast_check(op, x, to, true);
    if (cast_is_float8(to) || (to == HOLO_F8E8M0 && ora_is_float(from))) {
        if (to != HOLO_F8E8M0) cast_check(op, x, to, false);
    }
    ora *one = ora_shape(from, "");
    one->v[0] = x->v[2];
    cast_check(op, one, to, true);
    cast_check(op, ora_shape(from, "3,0"), to, true);
}

static void cast_texts(const char *op, holo_dtype type)
{
    const bool real = ora_is_float(type);
    const char *numbers = real ? "0.5 -1.5 2e0 1E0" : ora_is_signed(type) ? "1 -1 0 -2" : "1 0 3 2";
    ora *text = ora_of(HOLO_STRING, "4", numbers), *number = ora_of(type, "4", numbers);
    if (type == HOLO_BOOL) {
        text = ora_of(HOLO_STRING, "2", "1 0");
        number = ora_of(type, "2", "1 0");
    }
    if (type == HOLO_F8E8M0) {
        text = ora_of(HOLO_STRING, "2", "0.5 4");
        number = ora_of(type, "2", "0.5 4");
    }
    const ora *like = ora_make(type, "1", ORA_SMALL, 0), *string = ora_of(HOLO_STRING, "1", "x");
    char attrs[20];
    snprintf(attrs, sizeof attrs, "to=%d", (int)type);
    if (strcmp(op, "CastLike") == 0)
        ORA_CHECK(op, NULL, ORA_IN(text, like), ORA_OUT(number));
    else
        ORA_CHECK(op, attrs, ORA_IN(text), ORA_OUT(number));
    if (real && ora_bits(type) > 8) {
        const ora *names = ora_of(HOLO_STRING, "5", "INF +inf -Inf NaN nan");
        if (strcmp(op, "Cast") == 0)
            ORA_CHECK(op, attrs, ORA_IN(names), ORA_OUT(ora_of(type, "5", "inf inf -inf nan nan")));
    }
    if (type == HOLO_BOOL || type == HOLO_STRING) return;
    if (real) {
        text = ora_of(HOLO_STRING, "2", "0.5 0.25");
        number = ora_of(type, "2", "0.5 0.25");
        if (type == HOLO_F4E2M1) {
            text = ora_of(HOLO_STRING, "2", "0.5 1.5");
            number = ora_of(type, "2", "0.5 1.5");
        }
    }
    if (strcmp(op, "CastLike") == 0)
        ORA_CHECK(op, NULL, ORA_IN(number, string), ORA_OUT(text));
    else
        ORA_CHECK(op, "to=8", ORA_IN(number), ORA_OUT(text));
}

static void cast_powers(void)
{
    static const char *const modes[] = {"up", "down", "nearest"};
    static const holo_dtype types[] = {HOLO_F32, HOLO_F16, HOLO_BF16, HOLO_F64};
    for (size_t m = 0; m < 3; m++)
        for (int saturate = 0; saturate < 2; saturate++)
            for (size_t t = 0; t < 4; t++) {
                /* Without saturation the standard has one column: nearest. */
                if (!saturate && strcmp(modes[m], "nearest") != 0) continue;
                const ora *x = cast_input(types[t], HOLO_F8E8M0);
                ora *y = ora_like(x, HOLO_F8E8M0);
                char attrs[80];
                for (int64_t k = 0; k < x->count; k++)
                    y->v[k].re = cast_to_power(x->v[k].re, modes[m], saturate);
                snprintf(attrs, sizeof attrs, "to=24 saturate=%d round_mode=\"%s\"", saturate,
                         modes[m]);
                ORA_CHECK("Cast", attrs, ORA_IN(x), ORA_OUT(y));
            }
}

static void cast_run(const ora_row *row)
{
    ORA_EACH_TYPE(from, row->op, "T1")
    {
        ORA_EACH_TYPE(to, row->op, "T2") cast_pair(row->op, from, to);
        if (from != HOLO_STRING) cast_texts(row->op, from);
    }
    const ora *text = ora_make(HOLO_STRING, "6", ORA_SMALL, 0);
    if (strcmp(row->op, "CastLike") == 0) {
        ORA_CHECK(row->op, NULL, ORA_IN(text, text), ORA_OUT(text));
    } else {
        ORA_CHECK(row->op, "to=8", ORA_IN(text), ORA_OUT(text));
        cast_powers();
    }
}

/* ---- BitCast -----------------------------------------------------------------------------------
 */

/* All values of few bits, else the special ones; as a bool only 0 and 1 are values. */
static ora *cast_bits_input(holo_dtype from, holo_dtype to)
{
    if (ora_bits(from) > 8) return ora_make(from, "5,7", ORA_EDGE, 1);
    const int64_t count = to == HOLO_BOOL || from == HOLO_BOOL ? 2 : 1 << ora_bits(from);
    ora *x = ora_new(from, 1, &count);
    for (int64_t k = 0; k < count; k++)
        x->v[k] = ora_decode(from, (uint64_t)k);
    return x;
}

static void cast_bits_pair(holo_dtype from, holo_dtype to)
{
    const ora *x = cast_bits_input(from, to);
    holo_tensor t = {.rank = x->rank, .dtype = to};
    char attrs[20];
    for (int d = 0; d < x->rank; d++)
        t.dim[d] = x->dim[d];
    t.data = ora_alloc(ora_bytes(from, x->count) + 16);
    ora_pack(x, t.data);
    snprintf(attrs, sizeof attrs, "to=%d", (int)to);
    ORA_CHECK("BitCast", attrs, ORA_IN(x), ORA_OUT(ora_read(&t)));
    ORA_CHECK("BitCast", attrs, ORA_IN(ora_shape(from, "3,0")), ORA_OUT(ora_shape(to, "3,0")));
}

static void cast_bits(const ora_row *row)
{
    ORA_EACH_TYPE(from, row->op, "T1")
    ORA_EACH_TYPE(to, row->op, "T2")
    {
        if (ora_bits(from) == ora_bits(to)) cast_bits_pair(from, to);
    }
    ORA_REFUSE("16 bits", row->op, "to=10", ORA_IN(ora_of(HOLO_F32, "1", "1")),
               ORA_OUT(ora_shape(HOLO_F16, "1")));
    ORA_REFUSE("string", row->op, "to=8", ORA_IN(ora_of(HOLO_F32, "1", "1")),
               ORA_OUT(ora_shape(HOLO_STRING, "1")));
}

const ora_row ora_rows_cast[] = {
    {"BitCast", cast_bits, NULL},
    {"Cast", cast_run, NULL},
    {"CastLike", cast_run, NULL},
    {NULL, NULL, NULL},
};

static void cast_rows(void)
{
    ora_run(ora_rows_cast);
}

const hg_test_case hg_tests_oracle_cast[] = {{"rows", cast_rows}, {0}};
