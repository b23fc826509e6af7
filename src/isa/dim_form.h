/* dim_form.h - the canonical forms behind the constructors of dim.h; private to dim*.c.
 *
 *   sum       coefficient * product + ... + constant
 *   product   coefficient * factor * factor ...
 *
 * A stored sum is a left-leaning chain of ADD and SUB: first the terms with positive coefficients,
 * then those with negative ones, then the constant. A stored product is a left-leaning chain of MUL
 * with the coefficient last. Flattening works in fixed arrays; what does not fit, or whose
 * coefficients overflow, becomes the plain node, so that work per constructor is bounded whatever
 * the depth of the operands. */
#ifndef HG_ISA_DIM_FORM_H
#define HG_ISA_DIM_FORM_H

#include "isa/dim.h"

enum { HG_DIM_TERMS = 64, HG_DIM_FACTORS = 64, HG_DIM_WORK = 256 };

typedef struct hg_dim_term {
    hg_dim product; /* neither a constant nor a sum, no coefficient */
    int64_t coef;
} hg_dim_term;

typedef struct hg_dim_sum {
    hg_dim_term term[HG_DIM_TERMS];
    uint32_t n;
    int64_t constant;
} hg_dim_sum;

typedef struct hg_dim_product {
    hg_dim factor[HG_DIM_FACTORS]; /* sorted */
    uint32_t n;
    int64_t coef;
} hg_dim_product;

/* The record without any simplification; 0 when memory is exhausted. */
hg_dim hg_dim_plain(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c);
/* Total order of expressions that does not depend on the order of their creation. */
bool hg_dim_before(const hg_dims *d, hg_dim a, hg_dim b);

/* Bounds with INT64_MIN and INT64_MAX as infinities. */
hg_dim_info hg_dim_range_add(hg_dim_info a, hg_dim_info b);
hg_dim_info hg_dim_range_negate(hg_dim_info a);
hg_dim_info hg_dim_range_mul(hg_dim_info a, hg_dim_info b);
hg_dim_info hg_dim_range_of(const hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c);

/* sum += coef * dim; false when it does not fit. */
bool hg_dim_sum_add(const hg_dims *d, hg_dim_sum *sum, hg_dim dim, int64_t coef);
hg_dim hg_dim_sum_build(hg_dims *d, hg_dim_sum *sum);
hg_dim_info hg_dim_sum_range(const hg_dims *d, const hg_dim_sum *sum);
/* Greatest common divisor of coefficients and constant (0 for the empty sum), and division by it.
 */
int64_t hg_dim_sum_content(const hg_dim_sum *sum);
void hg_dim_sum_divide(hg_dim_sum *sum, int64_t by);

/* product *= dim; false when it does not fit. */
bool hg_dim_product_mul(const hg_dims *d, hg_dim_product *product, hg_dim dim);
/* Moves the contents of factors that are sums into the coefficient: (2*a+2*b)*c = 2*(a+b)*c. */
bool hg_dim_product_extract(hg_dims *d, hg_dim_product *product);
/* The factors without the coefficient; the constant 1 when there is none. */
hg_dim hg_dim_product_factors(hg_dims *d, const hg_dim_product *product);
hg_dim hg_dim_product_build(hg_dims *d, const hg_dim_product *product);
/* Takes one occurrence of the factor out; false when there is none. */
bool hg_dim_product_remove(hg_dim_product *product, hg_dim factor);

/* Positive greatest common divisor as long as it fits; 1 otherwise. gcd(0, x) = |x|. */
int64_t hg_dim_gcd(int64_t a, int64_t b);

#endif
