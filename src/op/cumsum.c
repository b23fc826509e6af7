/* cumsum.c - CumSum: running sums along one axis. */
#include "op/op_cumulate.h"
#include "op/op_gradient.h"

/* Sums run the other way. */
static holo_status cumsum_gradient(hg_gradient *d)
{
    const hg_node *n = hg_gradient_node(d);
    const hg_attr attr[] = {hg_attr_make_int("exclusive", hg_node_int(n, "exclusive", 0)),
                            hg_attr_make_int("reverse", hg_node_int(n, "reverse", 0) == 0)};
    const hg_value_id in[] = {d->out[0], hg_gradient_input(d, 1)};
    d->in[0] = hg_build_op(d->b, "CumSum", in, HG_COUNT(in), attr, HG_COUNT(attr));
    return d->b->status;
}

const hg_op hg_op_cumsum = {
    .name = "CumSum",
    .brief = "running sums along one axis",
    .since = 11,
    .version = 14,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_CUMULATE_TYPES,
    .infer = hg_cumulate_infer,
    .kernel = "cumsum",
    .emit = hg_cumulate_emit,
    .gradient = cumsum_gradient,
};
