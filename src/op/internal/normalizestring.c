/* normalizestring.c - holo:NormalizeString: words without stop words, which are an input. */
#include "op/op.h"

static holo_status normalizestring_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_STRING));
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    n->out[0] = *n->in[0];
    int32_t last = n->out[0].rank - 1;
    n->out[0].dim[last] = hg_infer_late_dim(n, 0, (uint32_t)last);
    return HOLO_OK;
}

static holo_status normalizestring_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "case", 0)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "exact", 0)));
    return hg_emit_int(e, hg_node_int(e->node, "turkic", 0));
}

const hg_op hg_op_internal_normalizestring = {
    .name = "NormalizeString",
    .domain = "holo",
    .brief = "words without stop words, in upper or lower case",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .flags = HG_OP_INTERNAL,
    .infer = normalizestring_infer,
    .kernel = "string.normalize",
    .emit = normalizestring_emit,
};
