/* packp16.c - holo:PackP16: columns of matrices side by side in panels of 16, as matmul.p16 reads
 * them. */
#include "op/op_matmul.h"

#include "kernel/pack.h"

/* Columns [first, first + count) of all matrices side by side: attribute "columns", or all. */
static void packp16_columns(hg_graph *g, const hg_node *node, hg_dim *first, hg_dim *count)
{
    size_t entries;
    const bool is_turned = hg_node_int(node, "trans", 0) != 0;
    const int64_t *range = hg_node_ints(node, "columns", &entries);
    *first = hg_dim_const(&g->dims, range == NULL ? 0 : range[0]);
    *count = hg_dim_const(&g->dims, range == NULL ? 0 : range[1]);
    for (uint32_t i = 0; range == NULL && i < node->n_in; i++) {
        const hg_type *t = &hg_graph_value(g, hg_node_in(g, node, i))->type;
        *count = hg_dim_add(&g->dims, *count, t->dim[is_turned ? 0 : 1]);
    }
}

static holo_status packp16_infer(hg_infer *n)
{
    int64_t trans;
    const int64_t *range;
    size_t entries;
    hg_dim first, count, panel = hg_dim_const(n->dims, HG_PANEL);
    HG_TRY(hg_attr_int(n, "trans", 0, &trans));
    for (uint32_t i = 0; i < n->n_in; i++) {
        HG_TRY(hg_infer_rank(n, i, 2, 2));
        HG_TRY(hg_infer_same_type(n, i, 0));
    }
    HG_TRY(hg_attr_ints(n, "columns", &range, &entries));
    if (range != NULL && entries != 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "columns has %zu entries, expected 2", entries);
    packp16_columns(n->g, n->node, &first, &count);
    n->out[0] =
        (hg_type){.dtype = n->in[0]->dtype,
                  .rank = 3,
                  .dim = {hg_dim_ceildiv(n->dims, count, panel), n->in[0]->dim[trans != 0], panel}};
    return HOLO_OK;
}

static holo_status packp16_emit(hg_emit *e)
{
    hg_dim first, count;
    packp16_columns(e->g, e->node, &first, &count);
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "trans", 0) != 0));
    HG_TRY(hg_emit_dim(e, first));
    return hg_emit_dim(e, count);
}

const hg_op hg_op_internal_packp16 = {
    .name = "PackP16",
    .domain = "holo",
    .brief = "columns of matrices side by side, in panels of 16",
    .since = 1,
    .in = {1, HG_PACK_MATRICES},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packp16_infer,
    .kernel = "pack.p16",
    .emit = packp16_emit,
};
