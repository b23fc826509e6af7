/* lrn.c - LRN: x / (bias + alpha / size * sum of squares of neighbouring channels)^beta. */
#include "op/op.h"

static holo_status lrn_infer(hg_infer *n)
{
    int64_t size;
    double factor;
    HG_TRY(hg_infer_rank(n, 0, 2, HG_MAX_RANK));
    HG_TRY(hg_attr_int(n, "size", 0, &size));
    HG_TRY(hg_attr_float(n, "alpha", 1e-4, &factor));
    HG_TRY(hg_attr_float(n, "beta", 0.75, &factor));
    HG_TRY(hg_attr_float(n, "bias", 1.0, &factor));
    if (size < 1 || size > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "size is %lld, expected at least 1", (long long)size);
    return hg_infer_same_as_input(n);
}

/* The sum over neighbouring channels, divided by size, is an average over the rows of [N, 1, C,
 * rest]. */
static holo_status lrn_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    hg_value_id x = hg_build_in(b, 0);
    hg_type type = *hg_build_type(b, x);
    int64_t size = hg_node_int(b->node, "size", 1), before = (size - 1) / 2;
    hg_dim rest = hg_dim_const(d, 1);
    for (int32_t i = 2; i < type.rank; i++)
        rest = hg_dim_mul(d, rest, type.dim[i]);
    hg_dim plane[] = {type.dim[0], hg_dim_const(d, 1), type.dim[1], rest};
    hg_attr attr[] = {
        hg_attr_make_ints(b, "kernel_shape", (int64_t[]){size, 1}, 2),
        hg_attr_make_ints(b, "pads", (int64_t[]){before, 0, size - 1 - before, 0}, 4),
        hg_attr_make_int("count_include_pad", 1),
    };
    hg_value_id square = hg_build_2(b, "Mul", x, x);
    square = hg_build_reshape(b, square, plane, HG_COUNT(plane));
    hg_value_id mean = hg_build_op(b, "AveragePool", &square, 1, attr, HG_COUNT(attr));
    mean = hg_build_reshape(b, mean, type.dim, (uint32_t)type.rank);
    hg_value_id alpha = hg_build_scalar(b, type.dtype, hg_node_float(b->node, "alpha", 1e-4));
    hg_value_id bias = hg_build_scalar(b, type.dtype, hg_node_float(b->node, "bias", 1.0));
    hg_value_id beta = hg_build_scalar(b, type.dtype, hg_node_float(b->node, "beta", 0.75));
    hg_value_id sum = hg_build_2(b, "Add", hg_build_2(b, "Mul", mean, alpha), bias);
    hg_build_replace(b, 0, hg_build_2(b, "Div", x, hg_build_2(b, "Pow", sum, beta)));
    return b->status;
}

const hg_op hg_op_lrn = {
    .name = "LRN",
    .brief = "x divided by a power of the squares of neighbouring channels",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = lrn_infer,
    .lower = lrn_lower,
};
