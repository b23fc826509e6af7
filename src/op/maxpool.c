/* maxpool.c - MaxPool: the largest element of each window, and where it was. */
#include "op/op_gradient.h"
#include "op/op_pool.h"

static holo_status maxpool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status maxpool_emit(hg_emit *e)
{
    return hg_pool_emit(e, HG_POOL_MAX, HG_POOL_NCHW);
}

/* To the place of each maximum in the whole input, row-major whatever the node says. */
static holo_status maxpool_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    const hg_node *n = hg_gradient_node(d);
    const hg_type type = *hg_gradient_type(d, 0);
    hg_type flat = {.dtype = type.dtype, .rank = 1}, list = flat;
    const hg_value_id x = hg_gradient_input(d, 0);
    const hg_node_id id = hg_build_node(b, "MaxPool", &x, 1, n->attr, n->n_attr, 2);
    if (id == 0) return b->status;
    HG_TRY(hg_graph_set_attr(b->g, id, hg_attr_make_int("storage_order", 0)));
    const hg_value_id place = hg_graph_node(b->g, id)->out[1];
    flat.dim[0] = hg_type_count(b->g, &type);
    list.dim[0] = hg_type_count(b->g, hg_build_type(b, place));
    hg_value_id y = hg_build_scatter(b, &flat, hg_build_shaped(b, place, &list),
                                     hg_build_shaped(b, d->out[0], &list), 0);
    d->in[0] = hg_build_shaped(b, y, &type);
    return b->status;
}

const hg_op hg_op_maxpool = {
    .name = "MaxPool",
    .brief = "the largest element of each window, and where it was",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT | HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8),
    .infer = maxpool_infer,
    .kernel = "pool",
    .emit = maxpool_emit,
    .gradient = maxpool_gradient,
};
