/* cdist.c - com.microsoft:CDist: distances of all rows of A to all rows of B, as
 * |a|^2 - 2 a b + |b|^2, or the roots of these. */
#include "op/op.h"

static holo_status cdist_infer(hg_infer *n)
{
    hg_str metric;
    HG_TRY(hg_attr_string(n, "metric", "sqeuclidean", &metric));
    if (!hg_str_is(metric, "sqeuclidean") && !hg_str_is(metric, "euclidean"))
        return hg_infer_fail(n, HOLO_E_MODEL, "metric is '%.*s', expected euclidean or sqeuclidean",
                             HG_STR_ARG(metric));
    for (uint32_t i = 0; i < 2; i++)
        HG_TRY(hg_infer_rank(n, i, 2, 2));
    HG_TRY(hg_infer_same_type(n, 0, 1));
    const hg_dim columns = n->in[1]->dim[1], expected = n->in[0]->dim[1];
    if (!hg_infer_equal(n, columns, expected)) {
        char x[64], y[64];
        hg_dim_print(n->dims, columns, x, sizeof x);
        hg_dim_print(n->dims, expected, y, sizeof y);
        return hg_infer_fail(n, HOLO_E_SHAPE, "B has %s columns, expected %s as in A", x, y);
    }
    n->out[0] = *n->in[0];
    n->out[0].dim[1] = n->in[1]->dim[0];
    return HOLO_OK;
}

static hg_value_id cdist_squares(hg_build *b, hg_value_id x, int64_t keeps)
{
    const hg_value_id in[2] = {x, hg_build_ints(b, (int64_t[]){1}, 1)};
    const hg_attr keep = hg_attr_make_int("keepdims", keeps);
    return hg_build_op(b, "ReduceSumSquare", in, 2, &keep, 1);
}

static holo_status cdist_lower(hg_build *b)
{
    const hg_value_id x = hg_build_in(b, 0), y = hg_build_in(b, 1);
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    const hg_str metric = hg_node_string(b->node, "metric", "sqeuclidean");
    const hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){1, 0}, 2);
    /* what is done to B alone is done once where that is a constant */
    hg_value_id turned = hg_build_op(b, "Transpose", &y, 1, &perm, 1);
    turned = hg_build_2(b, "Mul", turned, hg_build_scalar(b, dtype, -2.0));
    hg_value_id sum = hg_build_2(b, "MatMul", x, turned);
    sum = hg_build_2(b, "Add", sum, cdist_squares(b, y, 0));
    sum = hg_build_2(b, "Add", sum, cdist_squares(b, x, 1));
    sum = hg_build_2(b, "Max", sum, hg_build_scalar(b, dtype, 0.0));
    if (hg_str_is(metric, "euclidean")) sum = hg_build_1(b, "Sqrt", sum);
    hg_build_replace(b, 0, sum);
    return b->status;
}

const hg_op hg_op_microsoft_cdist = {
    .name = "CDist",
    .domain = "com.microsoft",
    .brief = "distances of all rows to all rows",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .infer = cdist_infer,
    .lower = cdist_lower,
};
