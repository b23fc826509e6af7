/* dim_div.c - quotients and remainders of dimension expressions.
 *
 * The dividend is a sum, the divisor a product. Terms that the divisor divides leave the quotient:
 * (d*q + r) / d = q + r / d holds for floor and ceiling, and the remainder is that of r. What is
 * left is reduced by common factors, and (x/b + c) / k becomes (x + c*b) / (b*k).
 *
 * Cancelling a symbol assumes that it is not 0. That is sound for what the compiler divides,
 * element counts: when a = 0 in (a*b) / a both counts are 0, any size of the reshaped dimension
 * fits, and the quotient is not determined by the model in the first place. */
#include "isa/dim_form.h"

typedef struct dim_div {
    hg_dim_sum whole;     /* left the quotient */
    hg_dim_sum rest;      /* still to be divided */
    hg_dim_product by;    /* divisor */
    hg_dim_product scale; /* MOD: cancelled common factors, multiplied back */
} dim_div;

/* term / by when it is exact. */
static bool dim_div_term(hg_dims *d, hg_dim_term term, const hg_dim_product *by, hg_dim_term *out)
{
    hg_dim_product p;
    p.n = 0;
    p.coef = 1;
    if (by->coef == 0 || (term.coef == INT64_MIN && by->coef == -1)) return false;
    if (term.coef % by->coef != 0 || !hg_dim_product_mul(d, &p, term.product)) return false;
    for (uint32_t i = 0; i < by->n; i++)
        if (!hg_dim_product_remove(&p, by->factor[i])) return false;
    *out = (hg_dim_term){hg_dim_product_factors(d, &p), term.coef / by->coef};
    return out->product != 0 && p.coef == 1;
}

/* The constant of the dividend, when the divisor is a constant too. */
static void dim_div_constant(hg_dim_op op, dim_div *x)
{
    int64_t c = x->rest.constant, k = x->by.coef;
    if (x->by.n != 0 || k == 0 || k == -1) return;
    int64_t q = hg_floor_div(c, k), r = c % k;
    if (r != 0 && (r < 0) != (k < 0)) r += k;
    if (op == HG_DIM_TRUNCDIV && r != 0) return;
    if (!hg_add_i64(x->whole.constant, q, &x->whole.constant)) return;
    x->rest.constant = r;
}

/* Moves what divides exactly from rest to whole. Truncation allows that only when nothing stays. */
static bool dim_div_split(hg_dims *d, hg_dim_op op, dim_div *x)
{
    dim_div before = *x;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->rest.n; i++) {
        hg_dim_term quotient;
        if (!dim_div_term(d, x->rest.term[i], &x->by, &quotient))
            x->rest.term[kept++] = x->rest.term[i];
        else if (!hg_dim_sum_add(d, &x->whole, quotient.product, quotient.coef))
            return false;
    }
    x->rest.n = kept;
    dim_div_constant(op, x);
    if (op == HG_DIM_TRUNCDIV && (x->rest.n != 0 || x->rest.constant != 0)) *x = before;
    return !d->failed;
}

/* A dividend like 2*a+2*b under a divisor with the factor a+b is the constant 2 without that
 * factor. */
static bool dim_div_sum_factor(hg_dims *d, dim_div *x)
{
    bool wanted = false;
    for (uint32_t i = 0; i < x->by.n; i++) {
        uint32_t op = d->rec[x->by.factor[i]].op;
        wanted = wanted || op == HG_DIM_ADD || op == HG_DIM_SUB;
    }
    if (!wanted || x->rest.n + (x->rest.constant != 0) < 2) return true;
    hg_dim_sum primitive = x->rest;
    int64_t content = hg_dim_sum_content(&primitive);
    hg_dim_sum_divide(&primitive, content);
    hg_dim factor = hg_dim_sum_build(d, &primitive);
    if (factor == 0) return false;
    if (!hg_dim_product_remove(&x->by, factor)) return true;
    x->rest.n = 0;
    x->rest.constant = content;
    return hg_dim_product_mul(d, &x->scale, factor);
}

/* Divides every term by the factor if it divides all of them. */
static bool dim_div_cancel_factor(hg_dims *d, dim_div *x, hg_dim factor)
{
    hg_dim_product by = {.n = 1, .coef = 1};
    hg_dim_sum quotient;
    by.factor[0] = factor;
    quotient.n = 0;
    quotient.constant = 0;
    if (x->rest.constant != 0) return false;
    for (uint32_t i = 0; i < x->rest.n; i++) {
        hg_dim_term t;
        if (!dim_div_term(d, x->rest.term[i], &by, &t) ||
            !hg_dim_sum_add(d, &quotient, t.product, t.coef))
            return false;
    }
    x->rest = quotient;
    return true;
}

static bool dim_div_cancel(hg_dims *d, dim_div *x)
{
    hg_dim_product all = x->by;
    for (uint32_t i = 0; i < all.n; i++) {
        if (!dim_div_cancel_factor(d, x, all.factor[i])) continue;
        hg_dim_product_remove(&x->by, all.factor[i]);
        if (!hg_dim_product_mul(d, &x->scale, all.factor[i])) return false;
    }
    int64_t common = hg_dim_gcd(hg_dim_sum_content(&x->rest), x->by.coef);
    if (common > 1) {
        hg_dim_sum_divide(&x->rest, common);
        x->by.coef /= common;
        if (!hg_mul_i64(x->scale.coef, common, &x->scale.coef)) return false;
    }
    return !d->failed;
}

/* (x/b + c) / k = (x + c*b) / (b*k) for quotients rounded the same way: floor and ceiling when k >
 * 0, truncation when c = 0. The symbolic k must be known to be no negative number. */
static bool dim_div_unnest(hg_dims *d, hg_dim_op op, dim_div *x)
{
    if (x->rest.n != 1 || x->rest.term[0].coef != 1 || op == HG_DIM_MOD) return false;
    const hg_dim_rec inner = d->rec[x->rest.term[0].product];
    if (inner.op != (uint32_t)op || (op == HG_DIM_TRUNCDIV && x->rest.constant != 0)) return false;
    if (op != HG_DIM_TRUNCDIV) {
        if (x->by.coef < 0) return false;
        for (uint32_t i = 0; i < x->by.n; i++)
            if (!hg_dim_is_nonnegative(d, x->by.factor[i])) return false;
    }
    dim_div next = *x;
    next.rest.n = 0;
    next.rest.constant = 0;
    if (!hg_dim_product_mul(d, &next.by, inner.b) || !hg_dim_product_extract(d, &next.by) ||
        !hg_dim_sum_add(d, &next.rest, inner.a, 1))
        return false;
    if (x->rest.constant != 0 && !hg_dim_sum_add(d, &next.rest, inner.b, x->rest.constant))
        return false;
    *x = next;
    return true;
}

/* rest / by with nothing left to simplify but numbers and bounds. */
static hg_dim dim_div_core(hg_dims *d, hg_dim_op op, dim_div *x)
{
    hg_dim a = hg_dim_sum_build(d, &x->rest), b = hg_dim_product_build(d, &x->by);
    int64_t p, q, value;
    if (a == 0 || b == 0) return 0;
    if (hg_dim_is_const(d, a, &p) && hg_dim_is_const(d, b, &q) &&
        hg_dim_eval_op(op, p, q, 0, &value))
        return hg_dim_const(d, value);
    hg_dim_info n = d->info[a], k = d->info[b];
    bool small = n.low >= 0 && n.high < k.low;
    if (small && op == HG_DIM_MOD) return a;
    if (small && op != HG_DIM_CEILDIV) return hg_dim_const(d, 0);
    if (op == HG_DIM_MOD && d->rec[a].op == HG_DIM_MOD && d->rec[a].b == b) return a;
    return hg_dim_plain(d, op, a, b, 0);
}

static bool dim_div_start(hg_dims *d, dim_div *x, hg_dim a, hg_dim b)
{
    x->whole.n = x->rest.n = x->by.n = x->scale.n = 0;
    x->whole.constant = x->rest.constant = 0;
    x->by.coef = x->scale.coef = 1;
    return hg_dim_sum_add(d, &x->rest, a, 1) && hg_dim_product_mul(d, &x->by, b) &&
           hg_dim_product_extract(d, &x->by);
}

static bool dim_div_reduce(hg_dims *d, hg_dim_op op, dim_div *x)
{
    for (int round = 0; round < 8; round++) {
        if (!dim_div_sum_factor(d, x) || !dim_div_split(d, op, x) || !dim_div_cancel(d, x))
            return false;
        if (!dim_div_unnest(d, op, x)) break;
    }
    return true;
}

static hg_dim dim_div_make(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b)
{
    dim_div x;
    if (a == 0 || b == 0) return 0;
    if (hg_dim_is(d, b, 0)) return hg_dim_plain(d, op, a, b, 0); /* the runtime reports it */
    if (hg_dim_is(d, b, 1)) return op == HG_DIM_MOD ? hg_dim_const(d, 0) : a;
    if (hg_dim_is(d, a, 0)) return a;
    if (op == HG_DIM_TRUNCDIV && hg_dim_is_nonnegative(d, a) && hg_dim_is_nonnegative(d, b))
        op = HG_DIM_FLOORDIV;
    if (!dim_div_start(d, &x, a, b) || !dim_div_reduce(d, op, &x))
        return hg_dim_plain(d, op, a, b, 0);
    if (x.rest.n == 0 && x.rest.constant == 0)
        return op == HG_DIM_MOD ? hg_dim_const(d, 0) : hg_dim_sum_build(d, &x.whole);
    hg_dim core = dim_div_core(d, op, &x);
    if (op == HG_DIM_MOD) return hg_dim_mul(d, core, hg_dim_product_build(d, &x.scale));
    if (core == 0) return 0;
    if (!hg_dim_sum_add(d, &x.whole, core, 1)) return hg_dim_plain(d, op, a, b, 0);
    return hg_dim_sum_build(d, &x.whole);
}

hg_dim hg_dim_floordiv(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_div_make(d, HG_DIM_FLOORDIV, a, b);
}

hg_dim hg_dim_ceildiv(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_div_make(d, HG_DIM_CEILDIV, a, b);
}

hg_dim hg_dim_truncdiv(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_div_make(d, HG_DIM_TRUNCDIV, a, b);
}

hg_dim hg_dim_mod(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_div_make(d, HG_DIM_MOD, a, b);
}
