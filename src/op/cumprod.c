/* cumprod.c - CumProd: running products along one axis. */
#include "op/op_cumulate.h"
#include "op/op_gradient.h"

/* Sums of x along the node's axis, forwards (as it counts) or backwards. */
static hg_value_id cumprod_sum(hg_gradient *d, hg_value_id x, bool backwards, bool exclusive)
{
    const bool reverse = hg_node_int(hg_gradient_node(d), "reverse", 0) != 0;
    const hg_attr attr[] = {hg_attr_make_int("exclusive", exclusive),
                            hg_attr_make_int("reverse", reverse != backwards)};
    const hg_value_id in[] = {x, hg_gradient_input(d, 1)};
    return hg_build_op(d->b, "CumSum", in, HG_COUNT(in), attr, HG_COUNT(attr));
}

/* Each factor gets what all later products are without it. Behind the first 0 that is nothing; the
 * first 0 itself is left out, all others are divided by. */
static holo_status cumprod_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_type type = *hg_gradient_type(d, 0);
    const bool exclusive = hg_node_int(hg_gradient_node(d), "exclusive", 0) != 0;
    const hg_value_id x = hg_gradient_input(d, 0), axis = hg_gradient_input(d, 1);
    hg_value_id none = hg_build_scalar(b, type.dtype, 0.0);
    hg_value_id one = hg_build_scalar(b, type.dtype, 1.0);
    hg_value_id is_none = hg_build_2(b, "Equal", x, none);
    hg_value_id count = cumprod_sum(d, hg_build_cast(b, is_none, HOLO_I64), false, false);
    hg_value_id first = hg_build_2(
        b, "And", is_none, hg_build_2(b, "Equal", count, hg_build_scalar(b, HOLO_I64, 1.0)));
    const hg_value_id without[] = {hg_build_3(b, "Where", first, one, x), axis};
    const hg_node_id again = hg_build_copy(b, d->id, without, 2);
    if (again == 0) return b->status;
    hg_value_id y = hg_gradient_output(d, 0), rest = hg_graph_node(b->g, again)->out[0];
    hg_value_id whole = cumprod_sum(d, hg_build_2(b, "Mul", d->out[0], y), true, exclusive);
    whole = hg_build_2(b, "Div", whole, hg_build_3(b, "Where", is_none, one, x));
    rest = cumprod_sum(d, hg_build_2(b, "Mul", d->out[0], rest), true, exclusive);
    rest = hg_build_3(b, "Where", first, rest, none);
    d->in[0] = hg_build_3(b, "Where", is_none, rest, whole);
    return b->status;
}

const hg_op hg_op_cumprod = {
    .name = "CumProd",
    .brief = "running products along one axis",
    .since = 26,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_CUMULATE_TYPES,
    .infer = hg_cumulate_infer,
    .kernel = "cumprod",
    .emit = hg_cumulate_emit,
    .gradient = cumprod_gradient,
};
