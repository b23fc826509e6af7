/* det.c - Det: determinants of square matrices. */
#include "op/op_attention.h"
#include "op/op_gradient.h"

static holo_status det_infer(hg_infer *n)
{
    const hg_type *x = n->in[0];
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    if (!hg_infer_equal(n, x->dim[x->rank - 1], x->dim[x->rank - 2]))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the matrices are not square");
    n->out[0] = *x;
    n->out[0].rank -= 2;
    return HOLO_OK;
}

/* 0 ... n - 1 without i, for each i: int64 [n, n - 1]. */
static hg_value_id det_others(hg_build *b, hg_dim n, hg_dim fewer)
{
    hg_value_id last = hg_build_ints(b, (int64_t[]){1}, 1);
    hg_value_id i = hg_build_2(b, "Unsqueeze", hg_build_range(b, n), last);
    hg_value_id j = hg_build_range(b, fewer);
    hg_value_id skips = hg_build_cast(b, hg_build_2(b, "GreaterOrEqual", j, i), HOLO_I64);
    return hg_build_2(b, "Add", j, skips);
}

/* 1 and -1 like the squares of a chess board, [n, n]. */
static hg_value_id det_signs(hg_build *b, hg_dim n, holo_dtype dtype)
{
    hg_value_id i = hg_build_range(b, n), two = hg_build_scalar(b, HOLO_I64, 2.0);
    hg_value_id j = hg_build_2(b, "Unsqueeze", i, hg_build_ints(b, (int64_t[]){1}, 1));
    hg_value_id odd = hg_build_2(b, "Mod", hg_build_2(b, "Add", i, j), two);
    odd = hg_build_2(b, "Mul", hg_build_cast(b, odd, dtype), hg_build_scalar(b, dtype, -2.0));
    return hg_build_2(b, "Add", odd, hg_build_scalar(b, dtype, 1.0));
}

/* The derivative by an element is its cofactor, also where a matrix has no inverse: the determinant
 * without its row and column, with a sign. */
static holo_status det_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_type type = *hg_gradient_type(d, 0);
    const int32_t r = type.rank;
    hg_dims *dims = &b->g->dims;
    const hg_dim n = type.dim[r - 1], one = hg_dim_const(dims, 1);
    int64_t perm[HG_MAX_RANK];
    if (r + 2 > HG_MAX_RANK)
        return hg_gradient_fail(d, "the tensor has rank %d, expected at most %d", r,
                                HG_MAX_RANK - 2);
    const hg_dim fewer = hg_dim_max(dims, hg_dim_sub(dims, n, one), hg_dim_const(dims, 0));
    hg_value_id others = det_others(b, n, fewer), x = hg_gradient_input(d, 0);
    for (int32_t k = 0; k < 2; k++) { /* [..., n, n - 1, n], then [..., n, n - 1, n, n - 1] */
        hg_attr axis = hg_attr_make_int("axis", k == 0 ? r - 2 : r);
        x = hg_build_op(b, "Gather", (hg_value_id[]){x, others}, 2, &axis, 1);
    }
    for (int32_t k = 0; k < r + 2; k++)
        perm[k] = k == r - 1 ? r : k == r ? r - 1 : k;
    hg_attr order = hg_attr_make_ints(b, "perm", perm, (uint32_t)r + 2);
    x = hg_build_1(b, "Det", hg_build_op(b, "Transpose", &x, 1, &order, 1));
    x = hg_build_2(b, "Mul", x, det_signs(b, n, type.dtype));
    hg_value_id places = hg_build_ints(b, (int64_t[]){-2, -1}, 2);
    d->in[0] = hg_build_2(b, "Mul", x, hg_build_2(b, "Unsqueeze", d->out[0], places));
    return b->status;
}

const hg_op hg_op_det = {
    .name = "Det",
    .brief = "determinants of square matrices",
    .since = 11,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = det_infer,
    .kernel = "det",
    .gradient = det_gradient,
};
