/* tablecopy.c - holo:TableCopy: what a constant table says about bytes on their way.
 *
 *   in       codes of 8 bits; the table, as of holo:Table, with entries of 8 bits
 *   axis, base, classes  as of holo:Table; axis is a dimension of the result
 *   copy     where the codes come from: the parameters of kernel copy.strided
 *   shape    of the result */
#include "op/op.h"

#include "kernel/table.h"

/* Dimensions under a name; NULL when there are none. */
static const hg_dim *tablecopy_dims(const hg_node *n, const char *name, uint32_t *count)
{
    const hg_attr *a = hg_node_attr(n, name);
    if (a == NULL || a->kind != HG_ATTR_DIMS) return NULL;
    *count = (uint32_t)a->count;
    return a->dims;
}

static holo_status tablecopy_infer(hg_infer *n)
{
    uint32_t loops = 0, rank = 0;
    const hg_dim *copy = tablecopy_dims(n->node, "copy", &loops),
                 *shape = tablecopy_dims(n->node, "shape", &rank);
    HG_TRY(hg_infer_types(n, 1, HG_TABLE_CODES_8));
    HG_TRY(hg_infer_rank(n, 1, 1, 2));
    if (copy == NULL || loops % 2 == 0 || shape == NULL || rank > HG_MAX_RANK)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'copy' or 'shape' is missing");
    if (!hg_graph_is_const(n->g, hg_node_in(n->g, n->node, 1)))
        return hg_infer_fail(n, HOLO_E_MODEL, "the table is not a constant");
    n->out[0] = (hg_type){.dtype = n->in[1]->dtype, .rank = (int32_t)rank};
    memcpy(n->out[0].dim, shape, rank * sizeof *shape);
    return HOLO_OK;
}

static holo_status tablecopy_emit(hg_emit *e)
{
    uint32_t loops = 0;
    const hg_dim *copy = tablecopy_dims(e->node, "copy", &loops);
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "axis", 0)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "base", 0)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "classes", 0)));
    for (uint32_t i = 0; i < loops; i++)
        HG_TRY(hg_emit_dim(e, copy[i]));
    return HOLO_OK;
}

const hg_op hg_op_internal_tablecopy = {
    .name = "TableCopy",
    .domain = "holo",
    .brief = "what a constant table says about bytes that are moved",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TABLE_CODES_8,
    .flags = HG_OP_INTERNAL,
    .infer = tablecopy_infer,
    .kernel = "table.copy",
    .emit = tablecopy_emit,
};
