/* fold_shapes.c - integer tensors whose contents are known as expressions are made from them
 * directly: the Shape, Gather, Mul, Concat chains that computed them lose their last reader. */
#include "pass/pass.h"

bool hg_shapes_known(const hg_graph *g, hg_value_id id)
{
    const hg_value *v = hg_graph_value(g, id);
    if (v->content == NULL || v->constant != NULL || v->node == 0) return false;
    for (uint32_t k = 0; k < v->n_content; k++) {
        int64_t symbol = hg_dim_symbol_of(&g->dims, v->content[k]);
        if (symbol >= 0 && g->dims.symbol[symbol].kind == HG_SYMBOL_CONTENT &&
            g->dims.symbol[symbol].value == id)
            return false;
    }
    return true;
}

static holo_status shapes_replace(hg_graph *g, hg_node_id id)
{
    hg_build b;
    hg_build_init(&b, g, id);
    hg_value_id old = hg_graph_node(g, id)->out[0];
    hg_type type = hg_graph_value(g, old)->type;
    hg_value_id made =
        hg_build_dims(&b, hg_graph_value(g, old)->content, hg_graph_value(g, old)->n_content);
    if (type.rank != 1) made = hg_build_reshape(&b, made, type.dim, (uint32_t)type.rank);
    made = hg_build_cast(&b, made, type.dtype);
    hg_build_replace(&b, 0, made);
    return b.status;
}

static holo_status shapes_run(hg_graph *g, bool *changed)
{
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node *n = hg_graph_node(g, id);
        hg_node_id next = n->next;
        if (!hg_op_is(n, "holo:Dims") && n->n_out == 1 && n->out[0] != 0 &&
            hg_graph_value(g, n->out[0])->n_uses != 0 && hg_shapes_known(g, n->out[0]) &&
            !hg_op_is(n, "Reshape") && !hg_op_is(n, "Cast")) {
            HG_TRY(shapes_replace(g, id));
            *changed = true;
        }
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_fold_shapes = {
    .name = "fold_shapes",
    .brief = "shape arithmetic becomes symbolic expressions",
    .run = shapes_run,
};
