/* reduce.c - reductions along axes, arguments of extremes, running sums, softmax and its like. */
#include "oracle/oracle.h"

#include <float.h>
#include <stdio.h>

/* ---- Reduce* -----------------------------------------------------------------------------------
 */

/* The reduction of n elements; n may be 0. */
typedef wide reduce_fn(holo_dtype type, const wide *const *x, int64_t n);

static wide reduce_float(holo_dtype type, long double value, long double size, int64_t n)
{
    wide w = {.re = value};
    if (isfinite(value) && isfinite(size))
        w.tol = (long double)(n + 2) * ora_eps(type) * size + (value == 0 ? LDBL_MIN : 0);
    return w;
}

static long double reduce_of(holo_dtype type, const wide *const *x, int64_t n, int how,
                             long double *size)
{
    long double sum = how == 3 ? 1 : 0;
    *size = 0;
    for (int64_t k = 0; k < n; k++) {
        const long double v = ora_real(type, x[k]);
        const long double term = how == 1 ? fabsl(v) : how == 2 ? v * v : v;
        sum = how == 3 ? sum * v : sum + term;
        *size += fabsl(term);
    }
    if (how == 3) *size = fabsl(sum);
    return sum;
}

/* Integers modulo their width: how 0 sum, 1 of magnitudes, 2 of squares, 3 product. */
static wide reduce_int(holo_dtype type, const wide *const *x, int64_t n, int how)
{
    uint64_t sum = how == 3 ? 1 : 0;
    for (int64_t k = 0; k < n; k++) {
        const bool negative = ora_is_signed(type) && (int64_t)x[k]->i < 0;
        if (how == 0) sum += x[k]->i;
        if (how == 1) sum += negative ? 0 - x[k]->i : x[k]->i;
        if (how == 2) sum += x[k]->i * x[k]->i;
        if (how == 3) sum *= x[k]->i;
    }
    return (wide){.i = ora_wrap(type, sum)};
}

static wide reduce_plain(holo_dtype type, const wide *const *x, int64_t n, int how)
{
    long double size;
    if (!ora_is_float(type)) return reduce_int(type, x, n, how);
    const long double value = reduce_of(type, x, n, how, &size);
    return reduce_float(type, value, size, n);
}

static wide reduce_sum(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_plain(type, x, n, 0);
}

static wide reduce_l1(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_plain(type, x, n, 1);
}

static wide reduce_sumsquare(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_plain(type, x, n, 2);
}

static wide reduce_prod(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_plain(type, x, n, 3);
}

/* A number computed as a float: integers are cut off. */
static wide reduce_real(holo_dtype type, long double value, long double size, int64_t n)
{
    if (ora_is_float(type)) return reduce_float(type, value, size, n);
    return ora_wide(type, truncl(value));
}

static wide reduce_l2(holo_dtype type, const wide *const *x, int64_t n)
{
    long double size;
    const long double value = sqrtl(reduce_of(type, x, n, 2, &size));
    return reduce_real(type, value, value, n);
}

static wide reduce_mean(holo_dtype type, const wide *const *x, int64_t n)
{
    long double size;
    const long double sum = reduce_of(type, x, n, 0, &size);
    return reduce_real(type, sum / (long double)n, size / (long double)n, n);
}

static wide reduce_logsum(holo_dtype type, const wide *const *x, int64_t n)
{
    long double size;
    const long double sum = reduce_of(type, x, n, 0, &size);
    /* log amplifies the relative error of the sum. */
    return reduce_real(type, logl(sum), fabsl(logl(sum)) + (sum > 0 ? size / sum : 0), n + 2);
}

static wide reduce_logsumexp(holo_dtype type, const wide *const *x, int64_t n)
{
    long double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const long double v = ora_real(type, x[k]);
        if (isnan(v)) return (wide){.re = NAN};
        if (v > most) most = v;
    }
    if (isinf(most)) return (wide){.re = most};
    for (int64_t k = 0; k < n; k++)
        sum += expl(ora_real(type, x[k]) - most);
    return reduce_real(type, most + logl(sum), fabsl(most) + fabsl(logl(sum)) + 4, n);
}

static wide reduce_extreme(holo_dtype type, const wide *const *x, int64_t n, int sign)
{
    wide best = {0};
    if (ora_is_float(type))
        best.re = -sign * (long double)INFINITY;
    else if (type == HOLO_BOOL)
        best.i = sign < 0;
    else
        best.i = sign > 0 ? (uint64_t)ora_int_min(type) : ora_int_max(type);
    for (int64_t k = 0; k < n; k++) {
        if (isnan(x[k]->re)) return *x[k];
        const long double a = ora_real(type, x[k]), b = ora_real(type, &best);
        if (sign > 0 ? a > b : a < b) best = *x[k];
    }
    if (ora_is_float(type) && best.re == 0) best.tol = LDBL_MIN;
    return best;
}

static wide reduce_max(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_extreme(type, x, n, 1);
}

static wide reduce_min(holo_dtype type, const wide *const *x, int64_t n)
{
    return reduce_extreme(type, x, n, -1);
}

/* axes: bits of the reduced ones. */
static ora *reduce_expected(const ora *x, unsigned axes, bool keep, reduce_fn *f)
{
    int64_t dim[HOLO_MAX_RANK], full[HOLO_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++) {
        full[d] = axes >> d & 1 ? 1 : x->dim[d];
        if (keep || !(axes >> d & 1)) dim[rank++] = full[d];
    }
    ora *y = ora_new(x->type, rank, dim), *group = ora_new(x->type, x->rank, full);
    const wide **list = ora_alloc(sizeof *list * (size_t)(x->count + 1));
    for (int64_t k = 0; k < group->count; k++) {
        int64_t at[HOLO_MAX_RANK], n = 0;
        for (int64_t i = 0; i < x->count; i++) {
            ora_unravel(x, i, at);
            for (int d = 0; d < x->rank; d++)
                if (axes >> d & 1) at[d] = 0;
            if (ora_ravel(group, at) == k) list[n++] = &x->v[i];
        }
        y->v[k] = f(x->type, list, n);
    }
    return y;
}

typedef struct reduce_case {
    const char *dims, *n, *axes; /* n NULL: no axes */
    unsigned bits;
    bool keep, noop;
} reduce_case;

typedef struct reduce_op {
    reduce_fn *f;
    bool positive; /* only positive numbers, and small ones if integers */
    bool no_empty; /* the standard leaves the empty set open */
    bool no_edges; /* the way there may overflow */
} reduce_op;

static ora *reduce_input(const reduce_op *op, holo_dtype type, const char *dims, uint32_t seed)
{
    ora *x = ora_make(type, dims, ora_is_float(type) ? ORA_UNIT : ORA_SMALL, seed);
    for (int64_t k = 0; op->positive && k < x->count; k++)
        x->v[k] =
            ora_wide(type, fabsl(ora_real(type, &x->v[k])) + (ora_is_float(type) ? 0.25L : 1));
    for (int64_t k = 0; op->positive && ora_is_float(type) && k < x->count; k++)
        x->v[k].re = ora_round(type, x->v[k].re);
    return x;
}

static void reduce_check(const ora_row *row, const ora *x, const reduce_case *c)
{
    const reduce_op *op = row->data;
    char attrs[60];
    snprintf(attrs, sizeof attrs, "keepdims=%d noop_with_empty_axes=%d", c->keep, c->noop);
    const ora *y = reduce_expected(x, c->bits, c->keep, op->f);
    const ora *axes = c->n == NULL ? NULL : ora_param(ora_of(HOLO_I64, c->n, c->axes));
    ORA_CHECK(row->op, attrs, ORA_IN(x, axes), ORA_OUT(y));
}

static void reduce_run(const ora_row *row)
{
    static const reduce_case table[] = {
        {"3,4", "1", "1", 2, true, false},      {"3,4", "1", "-2", 1, false, false},
        {"2,3,4", "2", "0 -1", 5, true, false}, {"2,3,4", "2", "2 1", 6, false, false},
        {"2,3,4", NULL, NULL, 7, true, false},  {"2,3,4", NULL, NULL, 7, false, false},
        {"2,3", "0", "", 3, true, false},       {"2,3", "0", "", 0, true, true},
        {"2,3", NULL, NULL, 0, false, true},    {"", NULL, NULL, 0, true, false},
        {"", NULL, NULL, 0, false, false},      {"5,37", "1", "1", 2, false, false},
        {"37,5", "1", "0", 1, false, false},    {"0,3", "1", "1", 2, true, false},
        {"2,0,3", "1", "-1", 4, false, false},
    };
    static const reduce_case empty[] = {{"0,3", "1", "0", 1, true, false},
                                        {"2,0,3", "1", "1", 2, false, false},
                                        {"2,0", NULL, NULL, 3, false, false}};
    const reduce_op *op = row->data;
    ORA_EACH_TYPE(type, row->op, "T")
    {
        for (uint32_t k = 0; k < sizeof table / sizeof *table; k++)
            reduce_check(row, reduce_input(op, type, table[k].dims, k), &table[k]);
        for (uint32_t k = 0; k < 3; k++)
            if (!op->no_empty || (ora_is_float(type) && op->f != reduce_mean))
                reduce_check(row, reduce_input(op, type, empty[k].dims, k), &empty[k]);
        if (!op->no_edges && !op->positive)
            reduce_check(row, ora_make(type, "10,4", ORA_EDGE, 0),
                         &(reduce_case){"10,4", "1", "1", 2, false, false});
        if (ora_is_float(type) && !op->positive) {
            const ora *x = ora_of(type, "5,2", "1 nan inf 2 -inf 3 inf -inf nan nan");
            reduce_check(row, x, &(reduce_case){"5,2", "1", "1", 2, false, false});
        }
    }
}

/* ---- ArgMax, ArgMin, Hardmax -------------------------------------------------------------------
 */

/* The first (last) extreme along the axis; a NaN is above (below) everything, as in numpy. */
static int64_t reduce_arg(const ora *x, int axis, const int64_t *index, int sign, bool last)
{
    int64_t at[HOLO_MAX_RANK], best = 0;
    memcpy(at, index, sizeof at);
    for (int64_t k = 0; k < x->dim[axis]; k++) {
        at[axis] = best;
        const wide *b = &x->v[ora_ravel(x, at)];
        at[axis] = k;
        const wide *a = &x->v[ora_ravel(x, at)];
        if (isnan(b->re)) continue;
        const long double p = ora_real(x->type, a), q = ora_real(x->type, b);
        if (isnan(a->re) || (sign > 0 ? p > q : p < q) || (last && p == q)) best = k;
    }
    return best;
}

static void reduce_arg_check(const ora_row *row, const ora *x, int64_t axis, bool keep, bool last)
{
    const int along = (int)(axis < 0 ? axis + x->rank : axis);
    const int sign = strcmp(row->op, "ArgMax") == 0 ? 1 : -1;
    int64_t dim[HOLO_MAX_RANK], full[HOLO_MAX_RANK], at[HOLO_MAX_RANK] = {0};
    int rank = 0;
    for (int d = 0; d < x->rank; d++) {
        full[d] = d == along ? 1 : x->dim[d];
        if (keep || d != along) dim[rank++] = full[d];
    }
    ora *y = ora_new(HOLO_I64, rank, dim), *group = ora_new(x->type, x->rank, full);
    for (int64_t k = 0; k < y->count; k++) {
        ora_unravel(group, k, at);
        y->v[k].i = (uint64_t)reduce_arg(x, along, at, sign, last);
    }
    char attrs[80];
    snprintf(attrs, sizeof attrs, "axis=%lld keepdims=%d select_last_index=%d", (long long)axis,
             keep, last);
    ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
}

static void reduce_args(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int last = 0; last < 2; last++) {
        reduce_arg_check(row, ora_make(type, "3,7", ORA_SMALL, 1), -1, true, last);
        reduce_arg_check(row, ora_make(type, "3,7", ORA_SMALL, 2), 0, false, last);
        reduce_arg_check(row, ora_make(type, "2,5,3", ORA_SMALL, 3), 1, true, last);
        reduce_arg_check(row, ora_make(type, "10", ORA_EDGE, 0), 0, false, last);
        reduce_arg_check(row, ora_make(type, "0,3", ORA_SMALL, 0), 1, true, last);
        reduce_arg_check(row, ora_make(type, "2,200", ORA_SMALL, 5), 1, false, last);
        if (ora_is_float(type) && !last)
            reduce_arg_check(row, ora_of(type, "2,4", "1 nan 3 nan -inf 2 inf inf"), 1, true, last);
    }
}

static void reduce_hardmax_check(const ora_row *row, const ora *x, int64_t axis)
{
    const int along = (int)(axis < 0 ? axis + x->rank : axis);
    char attrs[40];
    ora *y = ora_like(x, x->type);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(x, k, at);
        y->v[k].re = reduce_arg(x, along, at, 1, false) == at[along];
    }
    snprintf(attrs, sizeof attrs, "axis=%lld", (long long)axis);
    ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
}

static void reduce_hardmax(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        reduce_hardmax_check(row, ora_make(type, "3,7", ORA_SMALL, 1), -1);
        reduce_hardmax_check(row, ora_make(type, "3,7", ORA_SMALL, 1), 0);
        reduce_hardmax_check(row, ora_make(type, "2,5,3", ORA_SMALL, 1), -2);
        reduce_hardmax_check(row, ora_of(type, "2,3", "inf 1 inf -inf -inf -inf"), 1);
        reduce_hardmax_check(row, ora_shape(type, "0,3"), 1);
    }
}

/* ---- Softmax, LogSoftmax, LpNormalization, MeanVarianceNormalization
 * ----------------------------- */

/* Calls f with the elements along an axis and where their results go. */
static ora *reduce_along(const ora *x, int axis,
                         void (*f)(const ora *, const wide **, wide **, int64_t))
{
    ora *y = ora_like(x, x->type);
    const int64_t n = x->dim[axis];
    const wide **from = ora_alloc(sizeof *from * (size_t)(n + 1));
    wide **to = ora_alloc(sizeof *to * (size_t)(n + 1));
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK];
        ora_unravel(x, k, at);
        if (at[axis] != 0) continue;
        for (at[axis] = 0; at[axis] < n; at[axis]++) {
            from[at[axis]] = &x->v[ora_ravel(x, at)];
            to[at[axis]] = &y->v[ora_ravel(x, at)];
        }
        f(x, from, to, n);
    }
    return y;
}

static void reduce_softmax_row(const ora *x, const wide **from, wide **to, int64_t n)
{
    const wide lse = reduce_logsumexp(HOLO_F64, from, n);
    for (int64_t k = 0; k < n; k++) {
        to[k]->re = isinf(lse.re) ? NAN : expl(from[k]->re - lse.re);
        to[k]->tol = (long double)(n + 20) * ora_eps(x->type) * to[k]->re + LDBL_MIN +
                     0x1p-126L * (x->type == HOLO_F64 ? 0 : 1);
    }
}

static void reduce_logsoftmax_row(const ora *x, const wide **from, wide **to, int64_t n)
{
    const wide lse = reduce_logsumexp(HOLO_F64, from, n);
    for (int64_t k = 0; k < n; k++) {
        to[k]->re = isinf(lse.re) ? NAN : from[k]->re - lse.re;
        if (isfinite(from[k]->re))
            to[k]->tol = 8 * ora_eps(x->type) * (fabsl(from[k]->re) + fabsl(lse.re) + 4);
    }
}

static void reduce_lp_row(const ora *x, const wide **from, wide **to, int64_t n, int p)
{
    long double norm = 0;
    for (int64_t k = 0; k < n; k++)
        norm += p == 1 ? fabsl(from[k]->re) : from[k]->re * from[k]->re;
    if (p == 2) norm = sqrtl(norm);
    for (int64_t k = 0; k < n; k++) {
        to[k]->re = norm == 0 ? 0 : from[k]->re / norm;
        to[k]->tol = (long double)(n + 4) * ora_eps(x->type) * fabsl(to[k]->re) + LDBL_MIN;
    }
}

static void reduce_lp1_row(const ora *x, const wide **from, wide **to, int64_t n)
{
    reduce_lp_row(x, from, to, n, 1);
}

static void reduce_lp2_row(const ora *x, const wide **from, wide **to, int64_t n)
{
    reduce_lp_row(x, from, to, n, 2);
}

typedef struct reduce_rows {
    void (*f)(const ora *, const wide **, wide **, int64_t);
    const char *attrs;
    bool edges;
} reduce_rows_t;

static void reduce_along_check(const ora_row *row, const reduce_rows_t *r, const ora *x,
                               int64_t axis)
{
    char attrs[60];
    snprintf(attrs, sizeof attrs, "axis=%lld %s", (long long)axis, r->attrs);
    const ora *y = reduce_along(x, (int)(axis < 0 ? axis + x->rank : axis), r->f);
    ORA_CHECK(row->op, attrs, ORA_IN(x), ORA_OUT(y));
}

static void reduce_along_run(const ora_row *row)
{
    for (const reduce_rows_t *r = row->data; r->f != NULL; r++)
        ORA_EACH_TYPE(type, row->op, "T")
        {
            reduce_along_check(row, r, ora_make(type, "3,7", ORA_SMALL, 1), -1);
            reduce_along_check(row, r, ora_make(type, "3,7", ORA_SMALL, 1), 0);
            reduce_along_check(row, r, ora_make(type, "2,5,3", ORA_UNIT, 1), 1);
            reduce_along_check(row, r, ora_make(type, "2,67", ORA_UNIT, 1), 1);
            reduce_along_check(row, r, ora_make(type, "5,1", ORA_SMALL, 1), 1);
            reduce_along_check(row, r, ora_shape(type, "0,3"), 1);
            reduce_along_check(row, r, ora_shape(type, "2,0"), -1);
            if (r->edges)
                reduce_along_check(row, r, ora_of(type, "3,3", "1e4 -1e4 1e4 1 nan 2 -inf 0 -inf"),
                                   1);
            else
                reduce_along_check(row, r, ora_shape(type, "2,3"), 1); /* a norm of 0 */
        }
}

static void reduce_mvn_check(const ora *x, const char *attrs, unsigned bits)
{
    ora *y = ora_like(x, x->type);
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK], other[HOLO_MAX_RANK];
        long double sum = 0, squares = 0, n = 0, most = 0;
        ora_unravel(x, k, at);
        for (int64_t i = 0; i < x->count; i++) {
            bool same = true;
            ora_unravel(x, i, other);
            for (int d = 0; d < x->rank; d++)
                same = same && (bits >> d & 1 || at[d] == other[d]);
            if (!same) continue;
            sum += x->v[i].re;
            squares += x->v[i].re * x->v[i].re;
            most = fmaxl(most, fabsl(x->v[i].re));
            n++;
        }
        const long double mean = sum / n, variance = squares / n - mean * mean;
        const long double deviation = sqrtl(variance) + 1e-9L;
        y->v[k].re = (x->v[k].re - mean) / deviation;
        y->v[k].tol = (n + 8) * ora_eps(x->type) * most * most / (deviation * deviation) + LDBL_MIN;
    }
    ORA_CHECK("MeanVarianceNormalization", attrs, ORA_IN(x), ORA_OUT(y));
}

static void reduce_mvn(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    {
        reduce_mvn_check(ora_make(type, "2,3,2,4", ORA_UNIT, 1), NULL, 13);
        reduce_mvn_check(ora_make(type, "3,8", ORA_UNIT, 1), "axes=[1]", 2);
        reduce_mvn_check(ora_make(type, "3,8", ORA_UNIT, 1), "axes=[-2]", 1);
        reduce_mvn_check(ora_make(type, "0,8", ORA_UNIT, 1), "axes=[1]", 2);
    }
}

/* ---- CumSum, CumProd ---------------------------------------------------------------------------
 */

static void reduce_cumulate_check(const ora_row *row, const ora *x, const ora *axis_input,
                                  bool exclusive, bool reverse)
{
    const bool product = strcmp(row->op, "CumProd") == 0;
    const int64_t given = (int64_t)axis_input->v[0].i;
    const int axis = (int)(given < 0 ? given + x->rank : given);
    const wide **list = ora_alloc(sizeof *list * (size_t)(x->count + 1));
    ora *y = ora_like(x, x->type);
    char attrs[60];
    for (int64_t k = 0; k < x->count; k++) {
        int64_t at[HOLO_MAX_RANK], n = 0;
        ora_unravel(x, k, at);
        const int64_t here = at[axis];
        for (int64_t j = 0; j < x->dim[axis]; j++) {
            const bool in = reverse ? j > here : j < here;
            at[axis] = j;
            if (in || (j == here && !exclusive)) list[n++] = &x->v[ora_ravel(x, at)];
        }
        y->v[k] = product ? reduce_prod(x->type, list, n) : reduce_sum(x->type, list, n);
        if (ora_is_float(x->type) && ora_bits(x->type) == 16) /* may round on the way */
            y->v[k].tol += (long double)n * ora_ulp(x->type, 4);
    }
    snprintf(attrs, sizeof attrs, "exclusive=%d reverse=%d", exclusive, reverse);
    ORA_CHECK(row->op, attrs, ORA_IN(x, axis_input), ORA_OUT(y));
}

static void reduce_cumulate(const ora_row *row)
{
    ORA_EACH_TYPE(type, row->op, "T")
    for (int how = 0; how < 4; how++) {
        const ora *last = ora_param(ora_scalar(HOLO_I32, -1)),
                  *first = ora_param(ora_scalar(HOLO_I64, 0));
        const ora_fill fill = ora_is_float(type) ? ORA_UNIT : ORA_SMALL;
        reduce_cumulate_check(row, ora_make(type, "3,5", fill, 1), last, how & 1, how > 1);
        reduce_cumulate_check(row, ora_make(type, "4,2,3", fill, 1), first, how & 1, how > 1);
        reduce_cumulate_check(row, ora_make(type, "6", fill, 1), first, how & 1, how > 1);
        reduce_cumulate_check(row, ora_shape(type, "0,3"), first, how & 1, how > 1);
        if (!ora_is_float(type))
            reduce_cumulate_check(row, ora_make(type, "10", ORA_EDGE, 0), first, how & 1, how > 1);
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

/* clang-format off */
#define R(...) reduce_run, &(const reduce_op){__VA_ARGS__}
#define A(...) reduce_along_run, (const reduce_rows_t[]){__VA_ARGS__, {.f = NULL}}
const ora_row ora_rows_reduce[] = {
    {"ArgMax", reduce_args, NULL},
    {"ArgMin", reduce_args, NULL},
    {"CumProd", reduce_cumulate, NULL},
    {"CumSum", reduce_cumulate, NULL},
    {"Hardmax", reduce_hardmax, NULL},
    {"LogSoftmax", A({.f = reduce_logsoftmax_row, .attrs = "", .edges = true})},
    {"LpNormalization", A({.f = reduce_lp2_row, .attrs = ""}, {.f = reduce_lp1_row, .attrs = "p=1"})},
    {"MeanVarianceNormalization", reduce_mvn, NULL},
    {"ReduceL1", R(.f = reduce_l1, .no_edges = true)},
    {"ReduceL2", R(.f = reduce_l2, .no_edges = true)},
    {"ReduceLogSum", R(.f = reduce_logsum, .positive = true, .no_empty = true)},
    {"ReduceLogSumExp", R(.f = reduce_logsumexp, .no_empty = true, .no_edges = true)},
    {"ReduceMax", R(.f = reduce_max)},
    {"ReduceMean", R(.f = reduce_mean, .no_empty = true, .no_edges = true)},
    {"ReduceMin", R(.f = reduce_min)},
    {"ReduceProd", R(.f = reduce_prod, .no_edges = true)},
    {"ReduceSum", R(.f = reduce_sum, .no_edges = true)},
    {"ReduceSumSquare", R(.f = reduce_sumsquare, .no_edges = true)},
    {"Softmax", A({.f = reduce_softmax_row, .attrs = "", .edges = true})},
    {NULL, NULL, NULL},
};
#undef R
#undef A
/* clang-format on */

static void reduce_rows(void)
{
    ora_run(ora_rows_reduce);
}

const hg_test_case hg_tests_oracle_reduce[] = {{"rows", reduce_rows}, {0}};
