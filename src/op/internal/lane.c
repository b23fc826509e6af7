/* lane.c - holo:Lane: a fused point-wise body. All inputs broadcast; all outputs have that shape.
 */
#include "op/op.h"

static holo_status lane_infer(hg_infer *n)
{
    const hg_attr *code = hg_node_attr(n->node, "code"), *types = hg_node_attr(n->node, "types");
    if (code == NULL || code->kind != HG_ATTR_CODE || code->code->n_out != n->n_out)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'code' is missing or does not fit");
    if (types == NULL || types->kind != HG_ATTR_INTS || types->count != n->n_out)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'types' is missing or does not fit");
    HG_TRY(hg_infer_broadcast_shape(n));
    for (uint32_t j = 0; j < n->n_out; j++) {
        if (j != 0) n->out[j] = n->out[0];
        n->out[j].dtype = (holo_dtype)types->ints[j];
    }
    return HOLO_OK;
}

const hg_op hg_op_internal_lane = {
    .name = "Lane",
    .domain = "holo",
    .brief = "a fused point-wise body in lane code",
    .since = 1,
    .in = {1, -1},
    .out = {1, -1},
    .flags = HG_OP_INTERNAL,
    .infer = lane_infer,
    .kernel = "lane",
};
