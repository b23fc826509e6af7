/* op_cosines.c - windows that are sums of cosines. */
#include "op/op_cosines.h"

#include "op/op_scalar.h"

holo_status hg_cosines_infer(hg_infer *n)
{
    int64_t dtype, periodic;
    HG_TRY(hg_attr_int(n, "output_datatype", HOLO_F32, &dtype));
    HG_TRY(hg_attr_int(n, "periodic", 1, &periodic));
    if (dtype < 0 || dtype >= 64 || !hg_dtype_in((holo_dtype)dtype, HG_TYPES_NUMBER))
        return hg_infer_fail(n, HOLO_E_MODEL, "output_datatype is %lld, expected a number type",
                             (long long)dtype);
    n->out[0] = (hg_type){.dtype = (holo_dtype)dtype, .rank = 1};
    return hg_infer_scalar(n, 0, &n->out[0].dim[0]);
}

static hg_value_id cosines_scalar(hg_build *b, hg_dim dim)
{
    return hg_build_2(b, "Squeeze", hg_build_dims(b, &dim, 1), hg_build_ints(b, (int64_t[]){0}, 1));
}

holo_status hg_cosines_lower(hg_build *b, const double a[3])
{
    hg_dims *d = &b->g->dims;
    const hg_type type = hg_graph_value(b->g, b->node->out[0])->type;
    hg_dim size = type.dim[0], zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    bool periodic = hg_node_int(b->node, "periodic", 1) != 0;
    /* A window of one element has no steps. */
    hg_dim steps = periodic ? size : hg_dim_max(d, hg_dim_sub(d, size, one), one);
    hg_value_id range[] = {cosines_scalar(b, zero), cosines_scalar(b, size),
                           cosines_scalar(b, one)};
    hg_value_id x = hg_build_cast(b, hg_build_op(b, "Range", range, 3, NULL, 0), HOLO_F64);
    x = hg_build_2(b, "Mul", x, hg_build_scalar(b, HOLO_F64, 6.28318530717958647692));
    x = hg_build_2(b, "Div", x, hg_build_cast(b, cosines_scalar(b, steps), HOLO_F64));
    hg_value_id y = hg_build_scalar(b, HOLO_F64, a[0]);
    /* a[0] + a[2] first: the peak of a window is 1 and its ends are 0 without an error of rounding,
     * which an integer would drop. */
    if (a[2] != 0.0) {
        hg_value_id twice = hg_build_1(b, "Cos", hg_build_2(b, "Add", x, x));
        y = hg_build_2(b, "Add", y,
                       hg_build_2(b, "Mul", twice, hg_build_scalar(b, HOLO_F64, a[2])));
    }
    hg_value_id first =
        hg_build_2(b, "Mul", hg_build_1(b, "Cos", x), hg_build_scalar(b, HOLO_F64, a[1]));
    y = hg_build_2(b, "Sub", y, first);
    hg_build_replace(b, 0, hg_build_cast(b, y, type.dtype));
    return b->status;
}
