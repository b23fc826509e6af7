/* splitstring.c - holo:SplitString: parts of strings between delimiters; the delimiter is an input.
 */
#include "op/op.h"

static holo_status splitstring_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_STRING));
    HG_TRY(hg_infer_rank(n, 0, 0, HG_MAX_RANK - 1));
    n->out[0] = n->out[1] = *n->in[0];
    n->out[1].dtype = HOLO_I64;
    n->out[0].rank++;
    n->out[0].dim[n->in[0]->rank] = hg_infer_late_dim(n, 0, (uint32_t)n->in[0]->rank);
    return HOLO_OK;
}

static holo_status splitstring_emit(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "maxsplit", -1));
}

const hg_op hg_op_internal_splitstring = {
    .name = "SplitString",
    .domain = "holo",
    .brief = "parts of strings between delimiters",
    .since = 1,
    .in = {2, 2},
    .out = {2, 2},
    .types = HG_TYPES_STRING,
    .flags = HG_OP_INTERNAL,
    .infer = splitstring_infer,
    .kernel = "string.split",
    .emit = splitstring_emit,
};
