/* random.c - operators that draw numbers: type, shape, range, mean and deviation of what they give.
 *
 * An expected element is its mean (re), its standard deviation (im) and the most it may be away
 * from the mean (tol). */
#include "oracle/oracle.h"

#include <stdio.h>

static bool random_same_shape(const ora *want, const holo_tensor *got)
{
    bool same = got->dtype == want->type && got->rank == want->rank;
    for (int d = 0; same && d < want->rank; d++)
        same = got->dim[d] == want->dim[d];
    return same;
}

/* Six deviations of a sum of many numbers do not occur by chance. */
static bool random_judge(const ora_case *c, const holo_tensor *got, char *why, size_t size)
{
    const ora *want = c->out[0];
    if (!random_same_shape(want, got)) {
        snprintf(why, size, "another type or shape than %s[%s]", holo_dtype_text(want->type),
                 ora_dims_text(want));
        return false;
    }
    const ora *x = ora_read(got);
    long double sum = 0, square = 0, variance = 0, rounding = 0;
    for (int64_t k = 0; k < x->count; k++) {
        const wide *w = &want->v[k];
        const long double away = ora_real(x->type, &x->v[k]) - w->re;
        if (!(fabsl(away) <= w->tol * (1 + ora_eps(x->type)))) {
            snprintf(why, size, "[%lld] is %Lg away from its mean, more than %Lg", (long long)k,
                     away, w->tol);
            return false;
        }
        sum += away;
        square += away * away;
        variance += w->im * w->im;
        if (ora_is_float(x->type)) rounding += ora_ulp(x->type, w->tol + fabsl(w->re)) / 2;
    }
    snprintf(why, size, "%lld numbers: sum %Lg, squares %Lg around the means, variance %Lg",
             (long long)x->count, sum, square, variance);
    if (fabsl(sum) > 6 * sqrtl(variance) + rounding) return false;
    return x->count < 1000 || fabsl(square - variance) <= 0.2L * variance;
}

static const char *random_attrs(const char *shape, holo_dtype type, const char *more)
{
    char *text = ora_alloc(200);
    int used = shape == NULL ? 0 : snprintf(text, 200, "shape=[%s] ", shape);
    if (type != HOLO_NONE)
        used += snprintf(text + used, 200 - (size_t)used, "dtype=%d ", (int)type);
    snprintf(text + used, 200 - (size_t)used, "%s", more);
    return text;
}

/* ---- RandomNormal, RandomUniform and those of the shape of another tensor -----------------------
 */

/* Parameters as attributes, and what they mean. */
typedef struct random_law {
    const char *attrs;
    long double mean, deviation, most;
} random_law;

static const random_law random_normal[] = {{"", 0, 1, 8},
                                           {"mean=3.0 scale=0.5", 3, 0.5L, 4},
                                           {"mean=-1.0 scale=2.0 seed=7.0", -1, 2, 16},
                                           {NULL, 0, 0, 0}};
/* The deviation of a uniform number in an interval is its length by the root of 12. */
static const random_law random_uniform[] = {
    {"", 0.5L, 0.28867513459481288L, 0.5L},
    {"low=-2.0 high=4.0", 1, 1.7320508075688773L, 3},
    {"low=10.0 high=11.0 seed=1.5", 10.5L, 0.28867513459481288L, 0.5L},
    {NULL, 0, 0, 0}};

static ora *random_want(holo_dtype type, const char *dims, const random_law *law)
{
    ora *y = ora_shape(type, dims);
    for (int64_t k = 0; k < y->count; k++)
        y->v[k] = (wide){.re = law->mean, .im = law->deviation, .tol = law->most};
    return y;
}

static const char *const random_shapes[] = {"30,50", "2000", "2,0", "1,1,7", "1"};

static void random_shape(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (const random_law *law = row->data; law->attrs != NULL; law++)
        for (size_t k = 0; k < 5; k++)
            ORA_CHECK(row->op, random_attrs(random_shapes[k], type, law->attrs),
                      ORA_OUT(random_want(type, random_shapes[k], law)), .judge = random_judge);
}

static void random_like(const ora_row *row)
{
    ORA_EACH_TYPE(in, row->op, "T1")
    ORA_EACH_TYPE(type, row->op, "T2")
    for (const random_law *law = row->data; law->attrs != NULL; law++) {
        const char *dims = random_shapes[in % 5];
        const ora *x = ora_make(in, dims, ORA_SMALL, 1);
        ORA_CHECK(row->op, random_attrs(NULL, in == type ? HOLO_NONE : type, law->attrs), ORA_IN(x),
                  ORA_OUT(random_want(type, dims, law)), .judge = random_judge);
    }
}

/* ---- Bernoulli, Multinomial --------------------------------------------------------------------
 */

static void random_bernoulli_check(holo_dtype in, holo_dtype type, const char *dims, bool named)
{
    ora *p = ora_shape(in, dims), *y = ora_like(p, type);
    for (int64_t k = 0; k < p->count; k++) {
        const long double v = (long double)(k % 9) / 8; /* 0 and 1 are certain */
        p->v[k].re = v;
        y->v[k] = (wide){.re = v, .im = sqrtl(v * (1 - v)), .tol = v > 0.5L ? v : 1 - v};
        if (v == 0 || v == 1) y->v[k].tol = 0;
    }
    ORA_CHECK("Bernoulli", random_attrs(NULL, named ? type : HOLO_NONE, ""), ORA_IN(p), ORA_OUT(y),
              .judge = random_judge);
}

static void random_bernoulli(const ora_row *row)
{
    ORA_EACH_TYPE(in, row->op, "T1")
    {
        ORA_EACH_TYPE(type, row->op, "T2")
        {
            random_bernoulli_check(in, type, "3,600", true);
            random_bernoulli_check(in, type, "0,3", true);
        }
        random_bernoulli_check(in, in, "2,1,900", false);
    }
}

static void random_multinomial_check(holo_dtype in, holo_dtype type, int64_t samples, bool named)
{
    static const long double weights[2][4] = {{1, 2, 4, 1}, {0, 3, 0, 1}};
    ora *x = ora_shape(in, "2,4"), *y = ora_new(type, 2, (int64_t[]){2, samples});
    for (int64_t n = 0; n < 2; n++) {
        long double total = 0, mean = 0, square = 0;
        for (int64_t c = 0; c < 4; c++) {
            const long double w = weights[n][c];
            x->v[n * 4 + c].re = w == 0 ? -INFINITY : ora_round(in, logl(w));
            total += w;
            mean += w * (long double)c;
            square += w * (long double)(c * c);
        }
        mean /= total;
        const long double deviation = sqrtl(square / total - mean * mean);
        for (int64_t k = 0; k < samples; k++)
            y->v[n * samples + k] =
                (wide){.re = mean, .im = deviation, .tol = mean > 1.5L ? mean : 3 - mean};
    }
    char attrs[40];
    snprintf(attrs, sizeof attrs, "sample_size=%lld", (long long)samples);
    ORA_CHECK("Multinomial", random_attrs(NULL, named ? type : HOLO_NONE, attrs), ORA_IN(x),
              ORA_OUT(y), .judge = random_judge);
}

static void random_multinomial(const ora_row *row)
{
    ORA_EACH_TYPE(in, row->op, "T1")
    {
        ORA_EACH_TYPE(type, row->op, "T2")
        {
            random_multinomial_check(in, type, 600, true);
            random_multinomial_check(in, type, 1, true);
        }
        random_multinomial_check(in, HOLO_I32, 600, false);
    }
}

/* ---- Dropout -----------------------------------------------------------------------------------
 */

/* What the mask keeps is scaled, the rest is 0; the expectation holds both: re scaled, im the part
 * that stays. */
static bool random_dropout_judge(const ora_case *c, const holo_tensor *got, char *why, size_t size)
{
    const ora *want = c->out[0];
    if (!random_same_shape(want, &got[0]) || !random_same_shape(c->out[1], &got[1])) {
        snprintf(why, size, "another type or shape");
        return false;
    }
    const ora *y = ora_read(&got[0]), *mask = ora_read(&got[1]);
    long double kept = 0, expected = 0;
    for (int64_t k = 0; k < y->count; k++) {
        const bool keep = mask->v[k].i != 0;
        const long double should = keep ? want->v[k].re : 0;
        kept += keep;
        expected += want->v[k].im;
        if (fabsl(y->v[k].re - should) <= 2 * ora_ulp(y->type, should)) continue;
        snprintf(why, size, "[%lld] is %Lg, expected %Lg", (long long)k, y->v[k].re, should);
        return false;
    }
    snprintf(why, size, "%Lg are kept, expected %Lg", kept, expected);
    return fabsl(kept - expected) <= 3 * sqrtl((long double)y->count);
}

static void random_dropout_train(holo_dtype type, holo_dtype ratio, long double drop)
{
    const ora *x = ora_make(type, "30,40", ORA_SMALL, 1);
    ora *y = ora_like(x, type);
    for (int64_t k = 0; k < x->count; k++)
        y->v[k] = (wide){.re = x->v[k].re / (1 - drop), .im = 1 - drop};
    ORA_CHECK("Dropout", NULL,
              ORA_IN(x, ora_param(ora_scalar(ratio, drop)), ora_param(ora_scalar(HOLO_BOOL, 1))),
              ORA_OUT(y, ora_like(x, HOLO_BOOL)), .judge = random_dropout_judge);
}

static void random_dropout(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    ORA_EACH_TYPE(ratio, row->op, "T1")
    {
        const ora *x = ora_make(type, "3,4", ORA_EDGE, 1), *none = ora_shape(type, "0,2");
        ora *all = ora_like(x, HOLO_BOOL), *half = ora_param(ora_scalar(ratio, 0.5L));
        for (int64_t k = 0; k < all->count; k++)
            all->v[k].i = 1;
        ORA_CHECK(row->op, NULL, ORA_IN(x, half), ORA_OUT(x, all));
        ORA_CHECK(row->op, "seed=3", ORA_IN(x, half, ora_param(ora_scalar(HOLO_BOOL, 0))),
                  ORA_OUT(x, all));
        ORA_CHECK(row->op, NULL, ORA_IN(x), ORA_OUT(x));
        ORA_CHECK(row->op, NULL, ORA_IN(none, half), ORA_OUT(none));
        random_dropout_train(type, ratio, 0.5L);
        random_dropout_train(type, ratio, 0.75L);
        random_dropout_train(type, ratio, 0);
    }
}

const ora_row ora_rows_random[] = {
    {"Bernoulli", random_bernoulli, NULL},
    {"Dropout", random_dropout, NULL},
    {"Multinomial", random_multinomial, NULL},
    {"RandomNormal", random_shape, random_normal},
    {"RandomNormalLike", random_like, random_normal},
    {"RandomUniform", random_shape, random_uniform},
    {"RandomUniformLike", random_like, random_uniform},
    {NULL, NULL, NULL},
};

static void random_rows(void)
{
    ora_run(ora_rows_random);
}

const hg_test_case hg_tests_oracle_random[] = {{"rows", random_rows}, {0}};
