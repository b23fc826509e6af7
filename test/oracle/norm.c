/* norm.c - normalizations by statistics of the data. */
#include "oracle/oracle.h"

#include <float.h>
#include <stdio.h>

/* Mean and variance of the elements with one key. */
typedef struct norm_stats {
    long double mean, variance, square, n;
} norm_stats;

/* Which statistics element `at` of x belongs to. */
typedef int64_t norm_key_fn(const ora *x, const int64_t *at, int64_t parameter);

static norm_stats norm_stats_at(const ora *x, norm_key_fn *key, int64_t parameter,
                                const int64_t *at)
{
    const int64_t group = key(x, at, parameter);
    norm_stats s = {0};
    long double sum = 0;
    int64_t other[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++) {
        ora_unravel(x, k, other);
        if (key(x, other, parameter) != group) continue;
        sum += x->v[k].re;
        s.square += x->v[k].re * x->v[k].re;
        s.n++;
    }
    s.mean = sum / s.n;
    s.square /= s.n;
    s.variance = s.square - s.mean * s.mean;
    return s;
}

/* For a result of x normalized, times scale, plus bias: the error of the statistics in the type
 * they are computed in, and in 16 bits a rounding after each stage. */
static wide norm_result(holo_dtype type, long double normalized, long double scale,
                        long double bias, long double n)
{
    wide w = {.re = normalized * scale + bias};
    const long double size = (fabsl(normalized) + 1) * fabsl(scale) + fabsl(bias);
    w.tol = (n + 32) * ora_eps(type) * size;
    if (ora_bits(type) == 16) w.tol += 2 * ora_ulp(type, size);
    return w;
}

static int64_t norm_key_channel(const ora *x, const int64_t *at, int64_t parameter)
{
    (void)parameter;
    return x->rank < 2 ? 0 : at[1];
}

static int64_t norm_key_instance(const ora *x, const int64_t *at, int64_t parameter)
{
    (void)parameter;
    return at[0] * x->dim[1] + at[1];
}

static int64_t norm_key_group(const ora *x, const int64_t *at, int64_t groups)
{
    return at[0] * groups + at[1] / (x->dim[1] / groups);
}

static int64_t norm_key_layer(const ora *x, const int64_t *at, int64_t axis)
{
    int64_t key = 0;
    for (int d = 0; d < axis; d++)
        key = key * x->dim[d] + at[d];
    return key;
}

/* ---- BatchNormalization ------------------------------------------------------------------------
 */

static ora *norm_positive(holo_dtype type, const char *dims)
{
    ora *v = ora_make(type, dims, ORA_UNIT, 8);
    for (int64_t k = 0; k < v->count; k++)
        v->v[k].re = ora_round(type, fabsl(v->v[k].re) + 0.5L);
    return v;
}

static void norm_batch_check(const char *dims, const char *channels, holo_dtype t, holo_dtype t1,
                             holo_dtype t2, bool training)
{
    const ora *x = ora_make(t, dims, ORA_UNIT, 1), *scale = ora_make(t1, channels, ORA_UNIT, 2);
    const ora *bias = ora_make(t1, channels, ORA_UNIT, 3),
              *mean = ora_make(t2, channels, ORA_UNIT, 4);
    const ora *variance = norm_positive(t2, channels);
    ora *y = ora_like(x, t), *m = ora_like(mean, t2), *v = ora_like(mean, t2);
    const long double epsilon = 1e-5F, momentum = 0.75L;
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++) {
        ora_unravel(x, k, at);
        const int64_t c = norm_key_channel(x, at, 0);
        norm_stats s = {.mean = mean->v[c].re, .variance = variance->v[c].re, .n = 1};
        if (training) s = norm_stats_at(x, norm_key_channel, 0, at);
        y->v[k] = norm_result(t, (x->v[k].re - s.mean) / sqrtl(s.variance + epsilon),
                              scale->v[c].re, bias->v[c].re, s.n);
        if (ora_bits(t) == 64 && ora_bits(t1) + ora_bits(t2) < 128)
            y->v[k].tol += 40 * 0x1p-24L * (1 + fabsl(y->v[k].re));
        m->v[c] = (wide){.re = mean->v[c].re * momentum + s.mean * (1 - momentum),
                         .tol = (s.n + 8) * 0x1p-24L};
        v->v[c] = (wide){.re = variance->v[c].re * momentum + s.variance * (1 - momentum),
                         .tol = (s.n + 8) * 0x1p-24L};
    }
    if (training)
        ORA_CHECK("BatchNormalization", "training_mode=1 momentum=0.75",
                  ORA_IN(x, scale, bias, mean, variance), ORA_OUT(y, m, v));
    else
        ORA_CHECK("BatchNormalization", NULL, ORA_IN(x, scale, bias, mean, variance), ORA_OUT(y));
}

static void norm_batch(const ora_row *row)
{
    static const char *const shapes[][2] = {
        {"2,3,4,5", "3"}, {"4,3", "3"}, {"2,3,7", "3"}, {"6", "1"}, {"0,3,2", "3"}};
    ORA_EACH_TYPE(type, row->op, "T")
    {
        for (size_t k = 0; k < 5; k++)
            norm_batch_check(shapes[k][0], shapes[k][1], type, type, type, false);
        for (size_t k = 0; k < 3; k++)
            norm_batch_check(shapes[k][0], shapes[k][1], type, type, type, true);
        ORA_EACH_TYPE(other, row->op, "T1")
        {
            norm_batch_check("2,3,4", "3", type, other, HOLO_F32, false);
            norm_batch_check("2,3,4", "3", type, HOLO_F32, other, false);
        }
    }
}

/* ---- InstanceNormalization, GroupNormalization --------------------------------------------------
 */

static void norm_channels_check(const ora_row *row, const char *dims, const char *channels,
                                holo_dtype type, int64_t groups, const char *attrs)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1),
              *scale = ora_make(type, channels, ORA_UNIT, 2);
    const ora *bias = ora_make(type, channels, ORA_UNIT, 3);
    ora *y = ora_like(x, type);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++) {
        ora_unravel(x, k, at);
        const norm_stats s =
            norm_stats_at(x, groups == 0 ? norm_key_instance : norm_key_group, groups, at);
        const long double epsilon = strstr(attrs, "epsilon") != NULL ? 0.5L : 1e-5F;
        y->v[k] = norm_result(type, (x->v[k].re - s.mean) / sqrtl(s.variance + epsilon),
                              scale->v[at[1]].re, bias->v[at[1]].re, s.n);
    }
    ORA_CHECK(row->op, attrs, ORA_IN(x, scale, bias), ORA_OUT(y));
}

static void norm_instance(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        norm_channels_check(row, "2,3,4,5", "3", type, 0, "");
        norm_channels_check(row, "2,3,9", "3", type, 0, "epsilon=0.5");
        norm_channels_check(row, "0,3,9", "3", type, 0, "");
    }
}

static void norm_group(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        norm_channels_check(row, "2,4,3,5", "4", type, 2, "num_groups=2");
        norm_channels_check(row, "2,4,5", "4", type, 1, "num_groups=1 epsilon=0.5");
        norm_channels_check(row, "2,4,9", "4", type, 4, "num_groups=4");
        norm_channels_check(row, "0,4,9", "4", type, 2, "num_groups=2");
    }
}

/* ---- LayerNormalization, RMSNormalization
 * -------------------------------------------------------- */

static void norm_layer_check(const char *dims, int64_t axis, const char *scale_dims, bool bias,
                             holo_dtype type, holo_dtype stash)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1),
              *scale = ora_make(type, scale_dims, ORA_UNIT, 2);
    const ora *b = bias ? ora_make(type, scale_dims, ORA_UNIT, 3) : NULL;
    const int64_t from = axis < 0 ? axis + x->rank : axis;
    const long double epsilon = 1e-5F, coarse = stash == HOLO_BF16 ? 0x1p-6L : 0;
    int64_t dim[HOLO_MAX_RANK], at[HOLO_MAX_RANK];
    for (int d = 0; d < x->rank; d++)
        dim[d] = d < from ? x->dim[d] : 1;
    ora *y = ora_like(x, type), *mean = ora_new(stash, x->rank, dim),
        *inverse = ora_like(mean, stash);
    for (int64_t k = 0; k < x->count; k++) {
        ora_unravel(x, k, at);
        const norm_stats s = norm_stats_at(x, norm_key_layer, from, at);
        const long double inv = 1 / sqrtl(s.variance + epsilon);
        y->v[k] =
            norm_result(type, (x->v[k].re - s.mean) * inv, ora_broadcast_at(scale, x->rank, at)->re,
                        b == NULL ? 0 : ora_broadcast_at(b, x->rank, at)->re, s.n);
        y->v[k].tol += 8 * coarse + (type == HOLO_F64 ? 40 * 0x1p-24L : 0);
        const int64_t g = norm_key_layer(x, at, from);
        mean->v[g] = (wide){.re = s.mean, .tol = (s.n + 8) * 0x1p-24L + coarse};
        inverse->v[g] = (wide){.re = inv, .tol = (s.n + 32) * 0x1p-24L * inv * inv + 8 * coarse};
    }
    char attrs[60];
    snprintf(attrs, sizeof attrs, "axis=%lld stash_type=%d", (long long)axis, (int)stash);
    ORA_CHECK("LayerNormalization", attrs, ORA_IN(x, scale, b), ORA_OUT(y, mean, inverse));
    ORA_CHECK("LayerNormalization", attrs, ORA_IN(x, scale, b), ORA_OUT(y));
}

static void norm_layer(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        norm_layer_check("3,17", -1, "17", true, type, HOLO_F32);
        norm_layer_check("2,3,5", 1, "3,5", true, type, HOLO_F32);
        norm_layer_check("2,3,5", 1, "5", false, type, HOLO_F32);
        norm_layer_check("2,3,5", -3, "2,3,5", true, type, HOLO_F32);
        norm_layer_check("2,4,8", 2, "1", true, type, HOLO_F32);
        norm_layer_check("2,8", -1, "2,1", true, type, HOLO_F32);
        norm_layer_check("0,8", -1, "8", true, type, HOLO_F32);
        norm_layer_check("2,8", -1, "8", false, type, HOLO_BF16);
    }
}

static void norm_rms_check(const ora_row *row, const char *dims, int64_t axis,
                           const char *scale_dims, holo_dtype type, holo_dtype out)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1),
              *scale = ora_make(out, scale_dims, ORA_UNIT, 2);
    const int64_t from = axis < 0 ? axis + x->rank : axis;
    ora *y = ora_like(x, out);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++) {
        ora_unravel(x, k, at);
        const norm_stats s = norm_stats_at(x, norm_key_layer, from, at);
        const holo_dtype coarse = ora_bits(type) < ora_bits(out) ? type : out;
        y->v[k] = norm_result(coarse, x->v[k].re / sqrtl(s.square + 1e-5F),
                              ora_broadcast_at(scale, x->rank, at)->re, 0, s.n);
        y->v[k].tol += 40 * 0x1p-24L + (ora_bits(type) == 16 ? 2 * ora_ulp(type, 2) : 0);
    }
    char attrs[40];
    snprintf(attrs, sizeof attrs, "axis=%lld", (long long)axis);
    ORA_CHECK(row->op, attrs, ORA_IN(x, scale), ORA_OUT(y));
}

static void norm_rms(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    ORA_EACH_TYPE(out, row->op, "V")
    {
        norm_rms_check(row, "3,17", -1, "17", type, out);
        norm_rms_check(row, "2,3,5", 1, "3,5", type, out);
        norm_rms_check(row, "2,3,5", -3, "5", type, out);
        norm_rms_check(row, "0,8", -1, "8", type, out);
    }
}

/* Exporters write it in the domain of the standard, which does not have it. */
static void norm_simplified(const ora_row *row)
{
    ORA_EACH_TYPE(type, "LayerNormalization", "T")
    {
        norm_rms_check(row, "3,17", -1, "17", type, type);
        norm_rms_check(row, "2,3,5", -1, "5", type, type);
        norm_rms_check(row, "2,3,5", 1, "3,5", type, type);
        norm_rms_check(row, "0,8", -1, "8", type, type);
    }
}

/* ---- LRN ---------------------------------------------------------------------------------------
 */

static void norm_lrn_check(const char *dims, int64_t size, holo_dtype type, bool given)
{
    const ora *x = ora_make(type, dims, ORA_UNIT, 1);
    const long double alpha = given ? 0.5L : 0.0001F, beta = given ? 0.5L : 0.75L,
                      bias = given ? 2 : 1;
    ora *y = ora_like(x, type);
    int64_t at[HOLO_MAX_RANK];
    for (int64_t k = 0; k < x->count; k++) {
        long double sum = 0;
        ora_unravel(x, k, at);
        const int64_t c = at[1];
        for (at[1] = c - (size - 1) / 2; at[1] <= c + size / 2; at[1]++)
            if (at[1] >= 0 && at[1] < x->dim[1]) {
                const long double v = x->v[ora_ravel(x, at)].re;
                sum += v * v;
            }
        y->v[k].re = x->v[k].re / powl(bias + alpha / (long double)size * sum, beta);
        y->v[k].tol =
            16 * ora_eps(type) + (ora_bits(type) == 16 ? 2 * ora_ulp(type, y->v[k].re) : 0);
    }
    char attrs[80];
    snprintf(attrs, sizeof attrs, "size=%lld%s", (long long)size,
             given ? " alpha=0.5 beta=0.5 bias=2.0" : "");
    ORA_CHECK("LRN", attrs, ORA_IN(x), ORA_OUT(y));
}

static void norm_lrn(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int64_t size = 1; size < 6; size++) {
        norm_lrn_check("2,5,3,2", size, type, false);
        norm_lrn_check("2,4,3", size, type, true);
        norm_lrn_check("0,4,3", size, type, true);
    }
}

const ora_row ora_rows_norm[] = {
    {"BatchNormalization", norm_batch, NULL},
    {"GroupNormalization", norm_group, NULL},
    {"InstanceNormalization", norm_instance, NULL},
    {"LRN", norm_lrn, NULL},
    {"LayerNormalization", norm_layer, NULL},
    {"RMSNormalization", norm_rms, NULL},
    {"SimplifiedLayerNormalization", norm_simplified, NULL},
    {NULL, NULL, NULL},
};

static void norm_rows(void)
{
    ora_run(ora_rows_norm);
}

const hg_test_case hg_tests_oracle_norm[] = {{"rows", norm_rows}, {0}};
