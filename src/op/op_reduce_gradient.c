/* op_reduce_gradient.c - derivatives of the reductions. */
#include "op/op_reduce.h"

/* What the rules use: the input, the result and its gradient, both with the reduced dimensions
 * as 1. */
typedef struct reduce_case {
    hg_gradient *d;
    hg_build *b;
    hg_type type; /* of the input */
    uint32_t mask;
    hg_value_id x, y, g;
} reduce_case;

static holo_status reduce_begin(hg_gradient *d, reduce_case *c)
{
    const hg_infer n = hg_gradient_reader(d);
    hg_reduce_axes axes;
    *c = (reduce_case){.d = d,
                       .b = d->b,
                       .type = *hg_gradient_type(d, 0),
                       .x = hg_gradient_input(d, 0),
                       .y = hg_gradient_output(d, 0),
                       .g = d->out[0]};
    HG_TRY(hg_reduce_read(&n, c->type.rank, &axes));
    if (axes.is_late) return hg_gradient_fail(d, "its axes are known at run time only");
    c->mask = axes.mask;
    hg_type kept = c->type;
    for (int32_t i = 0; i < kept.rank; i++)
        if ((axes.mask >> i & 1) != 0) kept.dim[i] = hg_dim_const(&d->b->g->dims, 1);
    c->y = hg_build_shaped(d->b, c->y, &kept);
    c->g = hg_build_shaped(d->b, c->g, &kept);
    return d->b->status;
}

/* Elements that meet in one result. */
static hg_value_id reduce_count(const reduce_case *c)
{
    hg_dims *d = &c->b->g->dims;
    hg_dim count = hg_dim_const(d, 1);
    for (int32_t i = 0; i < c->type.rank; i++)
        if ((c->mask >> i & 1) != 0) count = hg_dim_mul(d, count, c->type.dim[i]);
    return hg_build_cast(c->b, hg_build_dims(c->b, &count, 1), c->type.dtype);
}

/* Shared by all elements that are as large as the result. */
static hg_value_id reduce_extreme(const reduce_case *c)
{
    hg_value_id is = hg_build_2(c->b, "Equal", c->x, c->y);
    is = hg_build_cast(c->b, is, c->type.dtype);
    int64_t axes[HG_MAX_RANK];
    uint32_t count = 0;
    for (int32_t i = 0; i < c->type.rank; i++)
        if ((c->mask >> i & 1) != 0) axes[count++] = i;
    hg_value_id many = count == 0 ? is : hg_build_reduce(c->b, "ReduceSum", is, axes, count);
    return hg_build_2(c->b, "Mul", is, hg_build_2(c->b, "Div", c->g, many));
}

/* The product of all others: of those before and those behind, along the reduced dimensions laid
 * side by side. Right where elements are 0, too. */
static hg_value_id reduce_others(const reduce_case *c)
{
    hg_build *b = c->b;
    const hg_type *t = &c->type;
    int64_t perm[HG_MAX_RANK], back[HG_MAX_RANK];
    uint32_t at = 0;
    hg_type moved = *t, flat = {.dtype = t->dtype};
    hg_dim size = hg_dim_const(&b->g->dims, 1);
    for (uint32_t reduced = 0; reduced < 2; reduced++)
        for (int32_t i = 0; i < t->rank; i++) {
            if ((c->mask >> i & 1) != reduced) continue;
            moved.dim[at] = t->dim[i];
            perm[at] = i;
            back[i] = at++;
            if (reduced == 0) flat.dim[flat.rank++] = t->dim[i];
            if (reduced == 1) size = hg_dim_mul(&b->g->dims, size, t->dim[i]);
        }
    flat.dim[flat.rank++] = size;
    const hg_attr there = hg_attr_make_ints(b, "perm", perm, at);
    const hg_attr again = hg_attr_make_ints(b, "perm", back, at);
    hg_value_id x = hg_build_op(b, "Transpose", &c->x, 1, &there, 1);
    const hg_value_id in[] = {hg_build_shaped(b, x, &flat),
                              hg_build_scalar(b, HOLO_I64, flat.rank - 1)};
    const hg_attr attr[] = {hg_attr_make_int("exclusive", 1), hg_attr_make_int("reverse", 1)};
    hg_value_id before = hg_build_op(b, "CumProd", in, 2, attr, 1);
    hg_value_id behind = hg_build_op(b, "CumProd", in, 2, attr, 2);
    x = hg_build_shaped(b, hg_build_2(b, "Mul", before, behind), &moved);
    return hg_build_op(b, "Transpose", &x, 1, &again, 1);
}

/* x / y, 0 where y is. */
static hg_value_id reduce_unit(const reduce_case *c)
{
    hg_value_id zero = hg_build_scalar(c->b, c->type.dtype, 0.0);
    hg_value_id none = hg_build_2(c->b, "Equal", c->y, zero);
    return hg_build_3(c->b, "Where", none, zero, hg_build_2(c->b, "Div", c->x, c->y));
}

/* What the gradient of the result is multiplied by; 0: by 1. */
static hg_value_id reduce_factor(const reduce_case *c, hg_reduce_op op)
{
    hg_build *b = c->b;
    switch (op) {
    case HG_REDUCE_SUM:
    case HG_REDUCE_MAX:
    case HG_REDUCE_MIN:
    case HG_REDUCE_ARG_MAX:
    case HG_REDUCE_ARG_MIN: return 0;
    case HG_REDUCE_MEAN: return hg_build_1(b, "Reciprocal", reduce_count(c));
    case HG_REDUCE_PROD: return reduce_others(c);
    case HG_REDUCE_SUM_SQUARE:
        return hg_build_2(b, "Mul", c->x, hg_build_scalar(b, c->type.dtype, 2.0));
    case HG_REDUCE_L1: return hg_build_1(b, "Sign", c->x);
    case HG_REDUCE_L2: return reduce_unit(c);
    case HG_REDUCE_LOG_SUM: return hg_build_1(b, "Exp", hg_build_1(b, "Neg", c->y));
    case HG_REDUCE_LOG_SUM_EXP: return hg_build_1(b, "Exp", hg_build_2(b, "Sub", c->x, c->y));
    }
    return 0;
}

holo_status hg_reduce_gradient(hg_gradient *d, hg_reduce_op op)
{
    reduce_case c;
    HG_TRY(reduce_begin(d, &c));
    if (op == HG_REDUCE_MAX || op == HG_REDUCE_MIN) {
        d->in[0] = reduce_extreme(&c);
        return d->b->status;
    }
    hg_value_id factor = reduce_factor(&c, op);
    d->in[0] = factor == 0 ? c.g : hg_build_2(d->b, "Mul", c.g, factor);
    return d->b->status;
}
