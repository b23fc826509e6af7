/* dim_sum.c - sums and products of dimension expressions in canonical order. */
#include "isa/dim_form.h"

int64_t hg_dim_gcd(int64_t a, int64_t b)
{
    if (a == INT64_MIN || b == INT64_MIN) return 1;
    return hg_gcd(a < 0 ? -a : a, b < 0 ? -b : b);
}

/* ---- sums ---------------------------------------------------------------------- */

static bool dim_sum_add_term(hg_dim_sum *sum, hg_dim product, int64_t coef)
{
    for (uint32_t i = 0; i < sum->n; i++) {
        if (sum->term[i].product != product) continue;
        if (!hg_add_i64(sum->term[i].coef, coef, &sum->term[i].coef)) return false;
        if (sum->term[i].coef == 0) sum->term[i] = sum->term[--sum->n];
        return true;
    }
    if (coef == 0) return true;
    if (sum->n == HG_DIM_TERMS) return false;
    sum->term[sum->n++] = (hg_dim_term){product, coef};
    return true;
}

static bool dim_sum_add_const(hg_dim_sum *sum, int64_t value, int64_t coef)
{
    int64_t scaled;
    return hg_mul_i64(value, coef, &scaled) && hg_add_i64(sum->constant, scaled, &sum->constant);
}

bool hg_dim_sum_add(const hg_dims *d, hg_dim_sum *sum, hg_dim dim, int64_t coef)
{
    hg_dim_term work[HG_DIM_TERMS];
    uint32_t n = 0;
    work[n++] = (hg_dim_term){dim, coef};
    for (uint32_t steps = 0; n > 0; steps++) {
        hg_dim_term t = work[--n];
        const hg_dim_rec *r = &d->rec[t.product];
        int64_t scale;
        if (steps == HG_DIM_WORK || n + 2 > HG_COUNT(work)) return false;
        if (r->op == HG_DIM_CONST) {
            if (!dim_sum_add_const(sum, r->value, t.coef)) return false;
        } else if (r->op == HG_DIM_ADD || r->op == HG_DIM_SUB) {
            scale = t.coef;
            if (r->op == HG_DIM_SUB && !hg_mul_i64(scale, -1, &scale)) return false;
            work[n++] = (hg_dim_term){r->a, t.coef};
            work[n++] = (hg_dim_term){r->b, scale};
        } else if (r->op == HG_DIM_MUL && d->rec[r->b].op == HG_DIM_CONST) {
            if (!hg_mul_i64(t.coef, d->rec[r->b].value, &scale)) return false;
            work[n++] = (hg_dim_term){r->a, scale};
        } else if (!dim_sum_add_term(sum, t.product, t.coef)) {
            return false;
        }
    }
    return true;
}

static void dim_sum_sort(const hg_dims *d, hg_dim_sum *sum)
{
    for (uint32_t i = 1; i < sum->n; i++) {
        hg_dim_term t = sum->term[i];
        uint32_t j = i;
        for (; j > 0 && hg_dim_before(d, t.product, sum->term[j - 1].product); j--)
            sum->term[j] = sum->term[j - 1];
        sum->term[j] = t;
    }
}

static hg_dim dim_sum_scaled(hg_dims *d, hg_dim product, int64_t coef)
{
    if (coef == 1) return product;
    return hg_dim_plain(d, HG_DIM_MUL, product, hg_dim_const(d, coef), 0);
}

/* total + coef * product; total 0 is an empty sum. */
static hg_dim dim_sum_append(hg_dims *d, hg_dim total, hg_dim product, int64_t coef)
{
    if (total == 0) return dim_sum_scaled(d, product, coef);
    bool negative = coef < 0 && coef != INT64_MIN;
    hg_dim term = dim_sum_scaled(d, product, negative ? -coef : coef);
    return hg_dim_plain(d, negative ? HG_DIM_SUB : HG_DIM_ADD, total, term, 0);
}

hg_dim hg_dim_sum_build(hg_dims *d, hg_dim_sum *sum)
{
    hg_dim total = 0;
    int64_t constant = sum->constant;
    if (sum->n == 0) return hg_dim_const(d, constant);
    dim_sum_sort(d, sum);
    for (uint32_t i = 0; i < sum->n; i++)
        if (sum->term[i].coef > 0)
            total = dim_sum_append(d, total, sum->term[i].product, sum->term[i].coef);
    if (total == 0 && constant > 0) {
        total = hg_dim_const(d, constant);
        constant = 0;
    }
    for (uint32_t i = 0; i < sum->n; i++)
        if (sum->term[i].coef < 0)
            total = dim_sum_append(d, total, sum->term[i].product, sum->term[i].coef);
    if (constant == 0 || d->failed) return d->failed ? 0 : total;
    bool negative = constant < 0 && constant != INT64_MIN;
    return hg_dim_plain(d, negative ? HG_DIM_SUB : HG_DIM_ADD, total,
                        hg_dim_const(d, negative ? -constant : constant), 0);
}

hg_dim_info hg_dim_sum_range(const hg_dims *d, const hg_dim_sum *sum)
{
    hg_dim_info range = {.low = sum->constant, .high = sum->constant};
    for (uint32_t i = 0; i < sum->n; i++) {
        hg_dim_info coef = {.low = sum->term[i].coef, .high = sum->term[i].coef};
        range = hg_dim_range_add(range, hg_dim_range_mul(d->info[sum->term[i].product], coef));
    }
    return range;
}

int64_t hg_dim_sum_content(const hg_dim_sum *sum)
{
    int64_t content = hg_dim_gcd(sum->constant, 0);
    for (uint32_t i = 0; i < sum->n; i++)
        content = hg_dim_gcd(content, sum->term[i].coef);
    return content;
}

void hg_dim_sum_divide(hg_dim_sum *sum, int64_t by)
{
    sum->constant /= by;
    for (uint32_t i = 0; i < sum->n; i++)
        sum->term[i].coef /= by;
}

static hg_dim dim_sum_combine(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b)
{
    hg_dim_sum sum;
    if (a == 0 || b == 0) return 0;
    sum.n = 0;
    sum.constant = 0;
    if (!hg_dim_sum_add(d, &sum, a, 1) || !hg_dim_sum_add(d, &sum, b, op == HG_DIM_SUB ? -1 : 1))
        return hg_dim_plain(d, op, a, b, 0);
    return hg_dim_sum_build(d, &sum);
}

hg_dim hg_dim_add(hg_dims *d, hg_dim a, hg_dim b)
{
    return dim_sum_combine(d, HG_DIM_ADD, a, b);
}

hg_dim hg_dim_sub(hg_dims *d, hg_dim a, hg_dim b)
{
    if (a != 0 && a == b) return hg_dim_const(d, 0);
    return dim_sum_combine(d, HG_DIM_SUB, a, b);
}

/* ---- products ------------------------------------------------------------------ */

static bool dim_sum_insert_factor(const hg_dims *d, hg_dim_product *product, hg_dim factor)
{
    uint32_t i = product->n;
    if (i == HG_DIM_FACTORS) return false;
    for (; i > 0 && hg_dim_before(d, factor, product->factor[i - 1]); i--)
        product->factor[i] = product->factor[i - 1];
    product->factor[i] = factor;
    product->n++;
    return true;
}

bool hg_dim_product_mul(const hg_dims *d, hg_dim_product *product, hg_dim dim)
{
    hg_dim work[HG_DIM_FACTORS];
    uint32_t n = 0;
    work[n++] = dim;
    for (uint32_t steps = 0; n > 0; steps++) {
        hg_dim top = work[--n];
        const hg_dim_rec *r = &d->rec[top];
        if (steps == HG_DIM_WORK || n + 2 > HG_COUNT(work)) return false;
        if (r->op == HG_DIM_CONST) {
            if (!hg_mul_i64(product->coef, r->value, &product->coef)) return false;
        } else if (r->op == HG_DIM_MUL) {
            work[n++] = r->a;
            work[n++] = r->b;
        } else if (!dim_sum_insert_factor(d, product, top)) {
            return false;
        }
    }
    return true;
}

bool hg_dim_product_remove(hg_dim_product *product, hg_dim factor)
{
    for (uint32_t i = 0; i < product->n; i++) {
        if (product->factor[i] != factor) continue;
        product->n--;
        memmove(&product->factor[i], &product->factor[i + 1],
                (product->n - i) * sizeof product->factor[0]);
        return true;
    }
    return false;
}

bool hg_dim_product_extract(hg_dims *d, hg_dim_product *product)
{
    hg_dim_product old = *product;
    for (uint32_t i = 0; i < old.n; i++) {
        hg_dim_sum sum;
        hg_dim factor = old.factor[i];
        uint32_t op = d->rec[factor].op;
        if (op != HG_DIM_ADD && op != HG_DIM_SUB) continue;
        sum.n = 0;
        sum.constant = 0;
        if (!hg_dim_sum_add(d, &sum, factor, 1)) continue;
        int64_t content = hg_dim_sum_content(&sum);
        if (content <= 1) continue;
        if (!hg_mul_i64(product->coef, content, &product->coef)) return false;
        hg_dim_sum_divide(&sum, content);
        hg_dim primitive = hg_dim_sum_build(d, &sum);
        if (primitive == 0) return false;
        hg_dim_product_remove(product, factor);
        /* A sum of one term is that term, perhaps a product. */
        if (!hg_dim_product_mul(d, product, primitive)) return false;
    }
    return true;
}

hg_dim hg_dim_product_factors(hg_dims *d, const hg_dim_product *product)
{
    if (product->n == 0) return hg_dim_const(d, 1);
    hg_dim total = product->factor[0];
    for (uint32_t i = 1; i < product->n; i++)
        total = hg_dim_plain(d, HG_DIM_MUL, total, product->factor[i], 0);
    return total;
}

hg_dim hg_dim_product_build(hg_dims *d, const hg_dim_product *product)
{
    if (product->n == 0 || product->coef == 0) return hg_dim_const(d, product->coef);
    hg_dim factors = hg_dim_product_factors(d, product);
    if (factors == 0) return 0;
    if (product->n == 1 && product->coef != 1) {
        /* A constant distributes over a sum. */
        hg_dim_sum sum;
        sum.n = 0;
        sum.constant = 0;
        if (hg_dim_sum_add(d, &sum, factors, product->coef)) return hg_dim_sum_build(d, &sum);
    }
    return dim_sum_scaled(d, factors, product->coef);
}

hg_dim hg_dim_mul(hg_dims *d, hg_dim a, hg_dim b)
{
    hg_dim_product product;
    if (a == 0 || b == 0) return 0;
    /* Sizes are finite, so nothing is lost when they are multiplied by 0. */
    if (hg_dim_is(d, a, 0) || hg_dim_is(d, b, 0)) return hg_dim_const(d, 0);
    product.n = 0;
    product.coef = 1;
    if (!hg_dim_product_mul(d, &product, a) || !hg_dim_product_mul(d, &product, b))
        return hg_dim_plain(d, HG_DIM_MUL, a, b, 0);
    if (product.n > 1 && !hg_dim_product_extract(d, &product))
        return hg_dim_plain(d, HG_DIM_MUL, a, b, 0);
    return hg_dim_product_build(d, &product);
}
