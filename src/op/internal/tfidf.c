/* tfidf.c - holo:Tfidf: how often n-grams, which are inputs, occur in rows of words. */
#include "op/op.h"

static holo_status tfidf_infer(hg_infer *n)
{
    int64_t columns;
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    HG_TRY(hg_attr_int(n, "columns", 0, &columns));
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_F32;
    n->out[0].dim[n->out[0].rank - 1] = hg_dim_const(n->dims, columns);
    return HOLO_OK;
}

static holo_status tfidf_emit(hg_emit *e)
{
    static const char *const name[4] = {"mode", "least", "most", "skip"};
    for (size_t i = 0; i < HG_COUNT(name); i++)
        HG_TRY(hg_emit_int(e, hg_node_int(e->node, name[i], 0)));
    return HOLO_OK;
}

const hg_op hg_op_internal_tfidf = {
    .name = "Tfidf",
    .domain = "holo",
    .brief = "how often n-grams occur in rows of words",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64),
    .flags = HG_OP_INTERNAL,
    .infer = tfidf_infer,
    .kernel = "tfidf",
    .emit = tfidf_emit,
};
