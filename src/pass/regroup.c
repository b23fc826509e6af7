/* regroup.c - how the dims of a Reshape correspond: equal products of leading dims are where runs
 * end. Expressions are hash-consed, so equal means equal for all sizes. */
#include "pass/regroup.h"

bool hg_regroup_is_reshape(const hg_node *n)
{
    static const char *const names[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (hg_op_is(n, names[i])) return true;
    return false;
}

/* product[i] of the first i dims. */
static bool regroup_products(hg_dims *d, const hg_type *t, hg_dim *product)
{
    product[0] = hg_dim_const(d, 1);
    for (int32_t i = 0; i < t->rank; i++) {
        if (t->dim[i] == 0 || hg_dim_is(d, t->dim[i], 0)) return false;
        product[i + 1] = hg_dim_mul(d, product[i], t->dim[i]);
    }
    return true;
}

/* The shortest run from (i, j) on. */
static bool regroup_next(const hg_type *from, const hg_type *to, const hg_dim *p, const hg_dim *q,
                         hg_regroup_run *run)
{
    const int32_t i = run->from, j = run->to;
    if (i < from->rank && j < to->rank && from->dim[i] == to->dim[j]) {
        run->n_from = run->n_to = 1;
        return true;
    }
    for (int32_t sum = 1; sum <= from->rank - i + to->rank - j; sum++)
        for (int32_t a = 0; a <= sum; a++) {
            if (i + a > from->rank || j + sum - a > to->rank || p[i + a] != q[j + sum - a])
                continue;
            run->n_from = a;
            run->n_to = sum - a;
            return true;
        }
    return false;
}

bool hg_regroup_find(hg_dims *d, const hg_type *from, const hg_type *to, hg_regroup *out)
{
    hg_dim p[HG_MAX_RANK + 1], q[HG_MAX_RANK + 1];
    out->count = 0;
    if (from->rank < 0 || to->rank < 0) return false;
    if (!regroup_products(d, from, p) || !regroup_products(d, to, q)) return false;
    for (int32_t i = 0, j = 0; i < from->rank || j < to->rank;) {
        hg_regroup_run *run = &out->run[out->count++];
        *run = (hg_regroup_run){.from = i, .to = j};
        if (!regroup_next(from, to, p, q, run)) return false;
        i += run->n_from;
        j += run->n_to;
    }
    return true;
}
