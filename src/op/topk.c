/* topk.c - TopK: the k largest or smallest elements along an axis, and where they were. */
#include "op/op_gradient.h"
#include "op/op_scalar.h"
#include "op/op_upgrade.h"

/* TopK-1: k is an attribute. */
static holo_status topk_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 10) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    int64_t k = hg_node_int(b.node, "k", 0);
    hg_value_id in[] = {hg_build_in(&b, 0), hg_build_ints(&b, &k, 1)};
    return hg_upgrade_replace(&b, "TopK", in, 2, b.node->attr, b.node->n_attr);
}

static holo_status topk_infer(hg_infer *n)
{
    int32_t axis;
    int64_t flag, k, size;
    const hg_type *x = n->in[0];
    hg_dim count;
    HG_TRY(hg_attr_axis(n, "axis", -1, x->rank, &axis));
    HG_TRY(hg_attr_int(n, "largest", 1, &flag));
    HG_TRY(hg_attr_int(n, "sorted", 1, &flag));
    HG_TRY(hg_infer_scalar(n, 1, &count));
    if (hg_dim_is_const(n->dims, count, &k) &&
        (k < 0 || (hg_dim_is_const(n->dims, x->dim[axis], &size) && k > size)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "k is %lld, expected 0 to the size of axis %d",
                             (long long)k, axis);
    n->out[0] = *x;
    n->out[0].dim[axis] = count;
    if (n->n_out < 2) return HOLO_OK;
    n->out[1] = n->out[0];
    n->out[1].dtype = HOLO_I64;
    return HOLO_OK;
}

static holo_status topk_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", -1), rank = hg_emit_type(e, 0)->rank;
    e->n_in = 1;
    HG_TRY(hg_emit_int(e, axis < 0 ? axis + rank : axis));
    return hg_emit_int(e, hg_node_int(e->node, "largest", 1) != 0);
}

/* Back to where they were; a node of its own says where, since the output may be unwanted. */
static holo_status topk_gradient(hg_gradient *d)
{
    const hg_node *n = hg_gradient_node(d);
    const hg_type type = *hg_gradient_type(d, 0);
    const int64_t axis = hg_node_int(n, "axis", -1);
    const hg_value_id in[] = {hg_gradient_input(d, 0), hg_gradient_input(d, 1)};
    const hg_node_id id = hg_build_node(d->b, "TopK", in, 2, n->attr, n->n_attr, 2);
    if (id == 0) return d->b->status;
    const hg_value_id index = hg_graph_node(d->b->g, id)->out[1];
    d->in[0] = hg_build_scatter(d->b, &type, index, d->out[0], axis);
    return d->b->status;
}

const hg_op hg_op_topk = {
    .name = "TopK",
    .brief = "the k largest or smallest elements along an axis, and where they were",
    .since = 1,
    .version = 24,
    .in = {2, 2},
    .out = {1, 2},
    .types = HG_TYPES_NUMBER,
    .upgrade = topk_upgrade,
    .infer = topk_infer,
    .kernel = "topk",
    .emit = topk_emit,
    .gradient = topk_gradient,
};
