/* gatherp16.c - holo:GatherP16: columns of a packed matrix, picked by index. */
#include "op/op_matmul.h"

static holo_status gatherp16_infer(hg_infer *n)
{
    hg_dim columns;
    const hg_type *index = n->in[1];
    HG_TRY(hg_infer_rank(n, 0, 3, 3));
    HG_TRY(hg_infer_rank(n, 1, 0, HG_MAX_RANK - 1));
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_attr_dim(n, "n", &columns));
    n->out[0] = *index;
    n->out[0].dtype = n->in[0]->dtype;
    n->out[0].dim[n->out[0].rank++] = n->in[0]->dim[1];
    return HOLO_OK;
}

static holo_status gatherp16_emit(hg_emit *e)
{
    return hg_emit_dim(e, hg_node_attr(e->node, "n")->dims[0]);
}

const hg_op hg_op_internal_gatherp16 = {
    .name = "GatherP16",
    .domain = "holo",
    .brief = "columns of packed weights, picked by index",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_INTERNAL,
    .infer = gatherp16_infer,
    .kernel = "gather.p16",
    .emit = gatherp16_emit,
};
