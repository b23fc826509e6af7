/* dim_range.c - bounds of dimension expressions, and what is decided by them: min, max, eq, lt,
 * select. */
#include "isa/dim_form.h"

/* ---- intervals ----------------------------------------------------------------- */

/* Sums that leave int64 stop at its ends; an end that is already there stays (it stands for
 * infinity). */
static int64_t dim_range_end_add(int64_t a, int64_t b, int64_t infinity)
{
    int64_t sum;
    if (a == infinity || b == infinity) return infinity;
    if (hg_add_i64(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t dim_range_end_mul(int64_t a, int64_t b)
{
    int64_t product;
    if (hg_mul_i64(a, b, &product)) return product;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

hg_dim_info hg_dim_range_add(hg_dim_info a, hg_dim_info b)
{
    return (hg_dim_info){.low = dim_range_end_add(a.low, b.low, INT64_MIN),
                         .high = dim_range_end_add(a.high, b.high, INT64_MAX)};
}

static int64_t dim_range_end_negate(int64_t end)
{
    return end == INT64_MIN ? INT64_MAX : end == INT64_MAX ? INT64_MIN : -end;
}

hg_dim_info hg_dim_range_negate(hg_dim_info a)
{
    return (hg_dim_info){.low = dim_range_end_negate(a.high), .high = dim_range_end_negate(a.low)};
}

hg_dim_info hg_dim_range_mul(hg_dim_info a, hg_dim_info b)
{
    /* An infinite end times 0 is 0 and times anything else saturates: both as in dim_range_end_mul,
     * except that infinity * 1 must stay what it is, which it does. */
    int64_t end[4] = {dim_range_end_mul(a.low, b.low), dim_range_end_mul(a.low, b.high),
                      dim_range_end_mul(a.high, b.low), dim_range_end_mul(a.high, b.high)};
    hg_dim_info r = {.low = end[0], .high = end[0]};
    for (size_t i = 1; i < 4; i++) {
        r.low = hg_min(r.low, end[i]);
        r.high = hg_max(r.high, end[i]);
    }
    /* INT64_MAX * -1 is a number, but the infinity it stands for has no lower end. */
    if (r.low == -INT64_MAX) r.low = INT64_MIN;
    return r;
}

static hg_dim_info dim_range_divide(hg_dim_op op, hg_dim_info a, hg_dim_info b)
{
    hg_dim_info any = {.low = INT64_MIN, .high = INT64_MAX};
    if (op == HG_DIM_MOD) {
        if (b.low < 0) return any;
        /* The result is below the divisor, and not above a dividend that is not negative. */
        any.low = 0;
        any.high = b.high == INT64_MAX ? INT64_MAX : hg_max(b.high - 1, 0);
        if (a.low >= 0) any.high = hg_min(any.high, a.high);
        return any;
    }
    if (a.low < 0 || b.low < 0) return any;
    int64_t least = hg_max(b.low, 1); /* 0 is an error when it happens */
    any.low = b.high == INT64_MAX || b.high == 0 ? 0 : a.low / b.high;
    any.high = a.high == INT64_MAX ? INT64_MAX : a.high / least;
    if (op == HG_DIM_CEILDIV) {
        any.low = a.low > 0 ? hg_max(any.low, 1) : 0;
        if (any.high != INT64_MAX && a.high % least != 0) any.high++;
    }
    return any;
}

hg_dim_info hg_dim_range_of(const hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c)
{
    hg_dim_info x = d->info[a], y = d->info[b];
    switch (op) {
    case HG_DIM_CONST:
    case HG_DIM_SYMBOL: break;
    case HG_DIM_ADD: return hg_dim_range_add(x, y);
    case HG_DIM_SUB: return hg_dim_range_add(x, hg_dim_range_negate(y));
    case HG_DIM_MUL: return hg_dim_range_mul(x, y);
    case HG_DIM_FLOORDIV:
    case HG_DIM_CEILDIV:
    case HG_DIM_TRUNCDIV:
    case HG_DIM_MOD: return dim_range_divide(op, x, y);
    case HG_DIM_MIN:
        return (hg_dim_info){.low = hg_min(x.low, y.low), .high = hg_min(x.high, y.high)};
    case HG_DIM_MAX:
        return (hg_dim_info){.low = hg_max(x.low, y.low), .high = hg_max(x.high, y.high)};
    case HG_DIM_EQ:
    case HG_DIM_LT: return (hg_dim_info){.low = 0, .high = 1};
    case HG_DIM_SELECT: {
        hg_dim_info z = d->info[c];
        return (hg_dim_info){.low = hg_min(y.low, z.low), .high = hg_max(y.high, z.high)};
    }
    }
    return (hg_dim_info){.low = INT64_MIN, .high = INT64_MAX};
}

/* ---- comparisons --------------------------------------------------------------- */

/* Bounds of a - b, better than those of a and b apart when they share terms. */
static hg_dim_info dim_range_difference(const hg_dims *d, hg_dim a, hg_dim b)
{
    hg_dim_sum difference;
    difference.n = 0;
    difference.constant = 0;
    hg_dim_info apart = hg_dim_range_add(d->info[a], hg_dim_range_negate(d->info[b]));
    if (!hg_dim_sum_add(d, &difference, a, 1) || !hg_dim_sum_add(d, &difference, b, -1))
        return apart;
    hg_dim_info shared = hg_dim_sum_range(d, &difference);
    return (hg_dim_info){.low = hg_max(apart.low, shared.low),
                         .high = hg_min(apart.high, shared.high)};
}

enum { DIM_EXTREMES = 8 };

typedef struct dim_extremes {
    hg_dim item[DIM_EXTREMES];
    uint32_t n;
} dim_extremes;

/* Adds an operand of a minimum (or maximum) unless another is never larger (smaller); drops those
 * that it makes superfluous. */
static bool dim_range_keep(const hg_dims *d, hg_dim_op op, dim_extremes *x, hg_dim item)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        hg_dim_info gap = dim_range_difference(d, x->item[i], item);
        if (op == HG_DIM_MIN) gap = hg_dim_range_negate(gap);
        if (gap.low >= 0) return true; /* nothing was dropped: order is transitive */
        if (gap.high > 0) x->item[kept++] = x->item[i];
    }
    x->n = kept;
    if (x->n == DIM_EXTREMES) return false;
    for (; kept > 0 && hg_dim_before(d, item, x->item[kept - 1]); kept--)
        x->item[kept] = x->item[kept - 1];
    x->item[kept] = item;
    x->n++;
    return true;
}

/* Collects nested minima (maxima) of a; false when there are too many. */
static bool dim_range_collect(const hg_dims *d, hg_dim_op op, dim_extremes *x, hg_dim a)
{
    hg_dim work[DIM_EXTREMES * 2];
    uint32_t n = 0, steps = 0;
    work[n++] = a;
    while (n > 0) {
        hg_dim top = work[--n];
        if (d->rec[top].op != op) {
            if (!dim_range_keep(d, op, x, top)) return false;
            continue;
        }
        if (n + 2 > HG_COUNT(work) || ++steps > DIM_EXTREMES * 2) return false;
        work[n++] = d->rec[top].a;
        work[n++] = d->rec[top].b;
    }
    return true;
}

/* max(a, min(a, b)) and min(a, max(a, b)) are a: what broadcasting a slice of at most n against its
 * source gives. */
static bool dim_range_absorbs(const hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b)
{
    const hg_dim_rec *r = &d->rec[b];
    hg_dim_op dual = op == HG_DIM_MAX ? HG_DIM_MIN : HG_DIM_MAX;
    return r->op == (uint32_t)dual && (r->a == a || r->b == a);
}

static hg_dim dim_range_extreme(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b)
{
    if (a != 0 && b != 0 && dim_range_absorbs(d, op, a, b)) return a;
    if (a != 0 && b != 0 && dim_range_absorbs(d, op, b, a)) return b;
    dim_extremes x = {.n = 0};
    if (a == 0 || b == 0) return 0;
    if (a == b) return a;
    if (!dim_range_collect(d, op, &x, a) || !dim_range_collect(d, op, &x, b))
        return hg_dim_plain(d, op, a, b, 0);
    hg_dim result = x.item[0];
    for (uint32_t i = 1; i < x.n; i++)
        result = hg_dim_plain(d, op, result, x.item[i], 0);
    return result;
}

hg_dim hg_dim_min(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_range_extreme(d, HG_DIM_MIN, a, b);
}

hg_dim hg_dim_max(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_range_extreme(d, HG_DIM_MAX, a, b);
}

/* a - b is no multiple of what goes into all its terms: 2 n is never 1. */
static bool dim_range_misses(const hg_dims *d, hg_dim a, hg_dim b)
{
    hg_dim_sum difference = {.n = 0, .constant = 0};
    if (!hg_dim_sum_add(d, &difference, a, 1) || !hg_dim_sum_add(d, &difference, b, -1))
        return false;
    const int64_t rest = difference.constant;
    difference.constant = 0;
    const int64_t content = hg_dim_sum_content(&difference);
    return content > 1 && rest % content != 0;
}

hg_dim hg_dim_eq(hg_dims *d, hg_dim a, hg_dim b)
{
    if (a == 0 || b == 0) return 0;
    hg_dim_info gap = dim_range_difference(d, a, b);
    if (a == b || (gap.low == 0 && gap.high == 0)) return hg_dim_const(d, 1);
    if (gap.low > 0 || gap.high < 0 || dim_range_misses(d, a, b)) return hg_dim_const(d, 0);
    return hg_dim_before(d, a, b) ? hg_dim_plain(d, HG_DIM_EQ, a, b, 0)
                                  : hg_dim_plain(d, HG_DIM_EQ, b, a, 0);
}

hg_dim hg_dim_lt(hg_dims *d, hg_dim a, hg_dim b)
{
    if (a == 0 || b == 0) return 0;
    hg_dim_info gap = dim_range_difference(d, a, b);
    if (a == b || gap.low >= 0) return hg_dim_const(d, 0);
    if (gap.high < 0) return hg_dim_const(d, 1);
    return hg_dim_plain(d, HG_DIM_LT, a, b, 0);
}

hg_dim hg_dim_select(hg_dims *d, hg_dim condition, hg_dim yes, hg_dim no)
{
    if (condition == 0 || yes == 0 || no == 0) return 0;
    hg_dim_info c = d->info[condition];
    if (yes == no || c.low > 0 || c.high < 0) return yes;
    if (c.low == 0 && c.high == 0) return no;
    return hg_dim_plain(d, HG_DIM_SELECT, condition, yes, no);
}
