/* dynamicquantizelinear.c - DynamicQuantizeLinear: to 8 bits, with a scale that fits the data. */
#include "op/op.h"

static holo_status dynamicquantizelinear_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_U8;
    if (n->n_out > 1) n->out[1] = (hg_type){.dtype = HOLO_F32};
    if (n->n_out > 2) n->out[2] = (hg_type){.dtype = HOLO_U8};
    return HOLO_OK;
}

/* The scale depends on all elements, the codes do not on each other: two steps. */
static holo_status dynamicquantizelinear_lower(hg_build *b)
{
    const uint32_t n_out = b->node->n_out;
    const hg_value_id x = hg_build_in(b, 0);
    const hg_value_id in[] = {x, hg_build_1(b, "holo:Extent", x)};
    const hg_node_id made = hg_build_node(b, "holo:DynamicQuantize", in, HG_COUNT(in), NULL, 0, 3);
    for (uint32_t j = 0; made != 0 && j < n_out; j++)
        hg_build_replace(b, j, hg_graph_node(b->g, made)->out[j]);
    return b->status;
}

const hg_op hg_op_dynamicquantizelinear = {
    .name = "DynamicQuantizeLinear",
    .brief = "to 8 bits, with a scale that fits the data",
    .since = 11,
    .in = {1, 1},
    .out = {1, 3},
    .types = HG_TYPE_BIT(HOLO_F32),
    .infer = dynamicquantizelinear_infer,
    .lower = dynamicquantizelinear_lower,
};
