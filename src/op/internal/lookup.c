/* lookup.c - holo:Lookup: what a table, whose keys are an input, says about each element.
 * Attributes: other, what is said about elements that are no key; strict, 1: they are an error. */
#include "op/op.h"

static holo_status lookup_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_I64;
    return HOLO_OK;
}

static holo_status lookup_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "other", -1)));
    return hg_emit_int(e, hg_node_int(e->node, "strict", 0));
}

const hg_op hg_op_internal_lookup = {
    .name = "Lookup",
    .domain = "holo",
    .brief = "what a table says about each element",
    .since = 1,
    .in = {4, 4},
    .out = {1, 1},
    .types = HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_I32) |
             HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64),
    .flags = HG_OP_INTERNAL,
    .infer = lookup_infer,
    .kernel = "lookup",
    .emit = lookup_emit,
};
