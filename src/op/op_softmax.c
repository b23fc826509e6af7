/* op_softmax.c - what Softmax, LogSoftmax and Hardmax share. */
#include "op/op_softmax.h"

holo_status hg_softmax_infer(hg_infer *n)
{
    int32_t axis;
    HG_TRY(hg_attr_axis(n, "axis", -1, n->in[0]->rank, &axis));
    return hg_infer_same_as_input(n);
}

holo_status hg_softmax_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 13) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id x = hg_build_in(&b, 0);
    int32_t rank = hg_build_type(&b, x)->rank;
    int64_t axis = hg_node_int(b.node, "axis", 1);
    if (axis == -1 || axis == rank - 1)
        return hg_graph_set_attr(g, id, hg_attr_make_int("axis", -1));
    hg_attr split = hg_attr_make_int("axis", axis), last = hg_attr_make_int("axis", -1);
    hg_value_id y = hg_build_op(&b, "Flatten", &x, 1, &split, 1);
    y = hg_build_op(&b, b.node->op->name, &y, 1, &last, 1);
    hg_attr zero = hg_attr_make_int("allowzero", 1);
    y = hg_build_op(&b, "Reshape", (hg_value_id[]){y, hg_build_1(&b, "Shape", x)}, 2, &zero, 1);
    hg_build_replace(&b, 0, y);
    return b.status;
}

holo_status hg_softmax_emit(hg_emit *e, bool log)
{
    int64_t axis = hg_node_int(e->node, "axis", -1), rank = hg_emit_type(e, 0)->rank;
    HG_TRY(hg_emit_int(e, axis < 0 ? axis + rank : axis));
    return hg_emit_int(e, log);
}

holo_status hg_softmax_gradient(hg_gradient *d, bool log)
{
    hg_build *b = d->b;
    const int64_t axis = hg_node_int(hg_gradient_node(d), "axis", -1);
    const hg_value_id y = hg_gradient_output(d, 0), axes = hg_build_ints(b, &axis, 1);
    hg_value_id part = log ? d->out[0] : hg_build_2(b, "Mul", y, d->out[0]);
    hg_value_id sum = hg_build_2(b, "ReduceSum", part, axes);
    if (log) sum = hg_build_2(b, "Mul", hg_build_1(b, "Exp", y), sum);
    d->in[0] = hg_build_2(b, "Sub", d->out[0], sum);
    if (!log) d->in[0] = hg_build_2(b, "Mul", y, d->in[0]);
    return b->status;
}
