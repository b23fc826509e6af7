/* quantize.c - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "oracle/oracle.h"

#include <float.h>
#include <stdio.h>

/* Granularity: scales for everything, for each place of an axis, for blocks along it. */
typedef struct quantize_case {
    const char *x, *scale, *attrs;
    int axis; /* of the scales; -1: one scale */
    int64_t block;
} quantize_case;

static const quantize_case quantize_table[] = {
    {"3,7", "", "", -1, 0},
    {"17", "", "", -1, 0},
    {"2,3,4", "3", "axis=1", 1, 0},
    {"2,3,4", "4", "axis=-1", 2, 0},
    {"2,6", "2,3", "axis=1 block_size=2", 1, 2},
    {"7,2", "3,2", "axis=0 block_size=3", 0, 3},
    {"", "", "", -1, 0},
    {"0,3", "3", "axis=1", 1, 0},
};
enum { QUANTIZE_CASES = sizeof quantize_table / sizeof *quantize_table };

static int64_t quantize_scale_at(const quantize_case *c, const ora *x, const ora *scale, int64_t k)
{
    int64_t at[HOLO_MAX_RANK];
    if (c->axis < 0) return 0;
    ora_unravel(x, k, at);
    if (c->block == 0) return at[c->axis];
    at[c->axis] /= c->block;
    return ora_ravel(scale, at);
}

/* Powers of two: the quotient is exact, so that ties are ties. */
static ora *quantize_scale(holo_dtype type, const char *dims, bool whole)
{
    ora *s = ora_shape(type, dims);
    for (int64_t k = 0; k < s->count; k++)
        s->v[k] = ora_wide(type, ldexpl(1, (int)(k % 3) - (whole ? 0 : 1)));
    return s;
}

static long double quantize_saturate(holo_dtype type, long double x)
{
    if (ora_is_int(type)) {
        const long double low = (long double)ora_int_min(type),
                          high = (long double)ora_int_max(type);
        return x < low ? low : x > high ? high : x;
    }
    if (isnan(x)) return x;
    const long double most = ora_max_finite(type);
    if (fabsl(x) > most) return copysignl(most, x);
    const long double r = ora_round(type, x);
    return isfinite(r) ? r : copysignl(most, x);
}

static void quantize_check(const quantize_case *c, holo_dtype from, holo_dtype ts, holo_dtype to,
                           int zero, int opset)
{
    ora *x = ora_make(from, c->x, ORA_SMALL, 3);
    const ora *scale = quantize_scale(ts, c->scale, ts == HOLO_I32);
    ora *z = zero == 1 ? ora_make(to, c->scale, ORA_SMALL, 5) : NULL, *y = ora_like(x, to);
    if (zero == 1 && !ora_is_int(to))
        for (int64_t k = 0; k < z->count; k++)
            z->v[k].re = 0;
    if (ora_is_float(from) && x->count > 3) {
        x->v[1].re = ora_round(from, 60000);
        x->v[2].re = -ora_round(from, 60000);
        x->v[0].re = 0.25L; /* half of the first scale */
    }
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t s = quantize_scale_at(c, x, scale, k);
        /* A quotient of integers, too, has a fraction that is rounded. */
        long double q = ora_real(from, &x->v[k]) / ora_real(ts, &scale->v[s]);
        if (ora_is_int(to)) q = rintl(q);
        q += z == NULL ? 0 : ora_real(to, &z->v[s]);
        y->v[k] = ora_wide(to, quantize_saturate(to, q));
        if (!ora_is_int(to) && y->v[k].re == 0) y->v[k].tol = LDBL_MIN;
    }
    char attrs[80];
    snprintf(attrs, sizeof attrs, zero == 1 ? "%s" : "%s output_dtype=%d", c->attrs, (int)to);
    ORA_CHECK("QuantizeLinear", attrs, ORA_IN(x, scale, z), ORA_OUT(y), .opset = opset);
}

static void quantize_run(const ora_row *row)
{
    ORA_EACH_TYPE(to, row->op, "T3")
    for (size_t k = 0; k < QUANTIZE_CASES; k++) {
        quantize_check(&quantize_table[k], HOLO_F32, HOLO_F32, to, 1, 0);
        quantize_check(&quantize_table[k], HOLO_F32, HOLO_F32, to, 0, 0);
    }
    ORA_EACH_TYPE(from, row->op, "T1")
    ORA_EACH_TYPE(ts, row->op, "T2")
    {
        if ((from == HOLO_I32) != (ts == HOLO_I32)) continue; /* what is divided how is left open */
        for (size_t k = 0; k < QUANTIZE_CASES; k++)
            quantize_check(&quantize_table[k], from, ts, HOLO_I8, 1, 0);
    }
    /* Every scale was a float32 once. */
    for (int opset = 10; opset <= 13; opset += 3)
        quantize_check(&quantize_table[0], HOLO_I32, HOLO_F32, HOLO_I8, 1, opset);
}

static void quantize_back_check(const quantize_case *c, holo_dtype from, holo_dtype ts,
                                holo_dtype to, bool zero)
{
    const ora *x = ora_make(from, c->x, ORA_EDGE, 3), *scale = quantize_scale(ts, c->scale, false);
    ora *z = zero ? ora_make(from, c->scale, ORA_SMALL, 5) : NULL, *y = ora_like(x, to);
    if (zero && (!ora_is_int(from) || from == HOLO_I32)) /* has none, but 0 */
        for (int64_t k = 0; k < z->count; k++)
            z->v[k] = ora_wide(from, 0);
    for (int64_t k = 0; k < x->count; k++) {
        const int64_t s = quantize_scale_at(c, x, scale, k);
        const long double v = ora_real(from, &x->v[k]) - (zero ? ora_real(from, &z->v[s]) : 0);
        y->v[k].re = v * ora_real(ts, &scale->v[s]);
        y->v[k].tol = (from == HOLO_I32 ? 2 * 0x1p-24L * fabsl(y->v[k].re) : 0) + LDBL_MIN;
    }
    char attrs[80];
    snprintf(attrs, sizeof attrs, ts == to ? "%s" : "%s output_dtype=%d", c->attrs, (int)to);
    ORA_CHECK("DequantizeLinear", attrs, ORA_IN(x, scale, z), ORA_OUT(y));
}

static void quantize_back(const ora_row *row)
{
    ORA_EACH_TYPE(from, row->op, "T1")
    for (size_t k = 0; k < QUANTIZE_CASES; k++) {
        quantize_back_check(&quantize_table[k], from, HOLO_F32, HOLO_F32, true);
        quantize_back_check(&quantize_table[k], from, HOLO_F32, HOLO_F32, false);
        ORA_EACH_TYPE(ts, row->op, "T2")
        {
            quantize_back_check(&quantize_table[k], from, ts, ts == HOLO_F8E8M0 ? HOLO_F16 : ts,
                                true);
            quantize_back_check(&quantize_table[k], from, ts, HOLO_F32, true);
        }
    }
}

static void quantize_dynamic_check(const ora *x)
{
    long double low = 0, high = 0;
    for (int64_t k = 0; k < x->count; k++) {
        low = fminl(low, x->v[k].re);
        high = fmaxl(high, x->v[k].re);
    }
    const float scale = (float)((high - low) / 255);
    const long double zero = scale == 0 ? 0 : fminl(fmaxl(rintl(-low / scale), 0), 255);
    ora *y = ora_like(x, HOLO_U8), *s = ora_scalar(HOLO_F32, scale), *z = ora_scalar(HOLO_U8, zero);
    for (int64_t k = 0; k < x->count; k++)
        y->v[k] = ora_wide(HOLO_U8,
                           scale == 0 ? 0 : fminl(fmaxl(rintl(x->v[k].re / scale) + zero, 0), 255));
    ORA_CHECK("DynamicQuantizeLinear", NULL, ORA_IN(x), ORA_OUT(y, s, z));
}

static void quantize_dynamic(const ora_row *row)
{
    (void)row;
    quantize_dynamic_check(ora_make(HOLO_F32, "3,17", ORA_UNIT, 1));
    quantize_dynamic_check(ora_of(HOLO_F32, "4", "0 255 51 102"));
    quantize_dynamic_check(ora_of(HOLO_F32, "3", "-3 -2 -1"));
    quantize_dynamic_check(ora_of(HOLO_F32, "3", "3 2 1"));
    quantize_dynamic_check(ora_of(HOLO_F32, "2", "0 0"));
    quantize_dynamic_check(ora_of(HOLO_F32, "", "7"));
}

const ora_row ora_rows_quantize[] = {
    {"DequantizeLinear", quantize_back, NULL},
    {"DynamicQuantizeLinear", quantize_dynamic, NULL},
    {"QuantizeLinear", quantize_run, NULL},
    {NULL, NULL, NULL},
};

static void quantize_rows(void)
{
    ora_run(ora_rows_quantize);
}

const hg_test_case hg_tests_oracle_quantize[] = {{"rows", quantize_rows}, {0}};
