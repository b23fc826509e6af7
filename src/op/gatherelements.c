/* gatherelements.c - GatherElements: single elements, picked by index along one axis. */
#include "op/op.h"
#include "op/op_gradient.h"

static holo_status gatherelements_infer(hg_infer *n)
{
    const int32_t rank = n->in[0]->rank;
    int32_t axis;
    HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, 1, rank, rank));
    HG_TRY(hg_attr_axis(n, "axis", 0, rank, &axis));
    n->out[0] = *n->in[1];
    n->out[0].dtype = n->in[0]->dtype;
    return HOLO_OK;
}

static holo_status gatherelements_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", 0);
    if (axis < 0) axis += hg_emit_type(e, 0)->rank;
    /* "labels" is set by losses: a negative index is an error that names it. */
    return hg_emit_int(e, hg_node_int(e->node, "labels", 0) != 0 ? -1 - axis : axis);
}

const hg_op hg_op_gatherelements = {
    .name = "GatherElements",
    .brief = "single elements, picked by index along one axis",
    .since = 11,
    .version = 13,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = gatherelements_infer,
    .kernel = "gatherelements",
    .emit = gatherelements_emit,
    .gradient = hg_gradient_pick,
};
