/* table.c - holo:Table: what a constant table says about each code.
 *
 *   in       codes, of 8, 16, 4 or 2 bits; the table, [entries] or [channels, entries]
 *   axis     dimension of the codes that picks the row, when there are channels
 *   base     entry k belongs to code base + k; a code is the bits as an unsigned number
 *   classes  1: entry k belongs to the bytes of Atlas class k instead */
#include "op/op.h"

#include "base/atlas.h"
#include "kernel/table.h"

static holo_status table_infer_entries(const hg_infer *n)
{
    const hg_type *t = n->in[1];
    int64_t base, classes, entries;
    const int64_t codes = INT64_C(1) << hg_dtype_bits(n->in[0]->dtype);
    HG_TRY(hg_attr_int(n, "base", 0, &base));
    HG_TRY(hg_attr_int(n, "classes", 0, &classes));
    if (base < 0 || base >= codes)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'base' is %lld, expected 0 to %lld",
                             (long long)base, (long long)(codes - 1));
    if (!hg_dim_is_const(n->dims, t->dim[t->rank - 1], &entries) || entries < 1 ||
        entries > codes - base)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the table does not have 1 to %lld entries",
                             (long long)(codes - base));
    if (classes != 0 && (codes != 256 || entries != HG_ATLAS_CLASSES || base != 0))
        return hg_infer_fail(n, HOLO_E_SHAPE, "a table of classes has %d entries for bytes",
                             HG_ATLAS_CLASSES);
    return HOLO_OK;
}

static holo_status table_infer(hg_infer *n)
{
    int32_t axis;
    HG_TRY(hg_infer_types(n, 1, HG_TABLE_ENTRIES));
    HG_TRY(hg_infer_rank(n, 1, 1, 2));
    /* it is never the operand whose memory the result takes over */
    if (!hg_graph_is_const(n->g, hg_node_in(n->g, n->node, 1)))
        return hg_infer_fail(n, HOLO_E_MODEL, "the table is not a constant");
    if (n->in[1]->rank == 2) {
        HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
        if (!hg_infer_equal(n, n->in[1]->dim[0], n->in[0]->dim[axis]))
            return hg_infer_fail(n, HOLO_E_SHAPE, "the table does not have one row a channel");
    }
    HG_TRY(table_infer_entries(n));
    n->out[0] = *n->in[0];
    n->out[0].dtype = n->in[1]->dtype;
    return HOLO_OK;
}

static holo_status table_emit(hg_emit *e)
{
    const int64_t axis = hg_node_int(e->node, "axis", 0);
    const bool rows = hg_emit_type(e, 1)->rank == 2;
    HG_TRY(hg_emit_int(e, !rows ? 0 : axis < 0 ? axis + hg_emit_type(e, 0)->rank : axis));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "base", 0)));
    return hg_emit_int(e, hg_node_int(e->node, "classes", 0) != 0);
}

const hg_op hg_op_internal_table = {
    .name = "Table",
    .domain = "holo",
    .brief = "what a constant table says about each code",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TABLE_CODES,
    .flags = HG_OP_INTERNAL,
    .infer = table_infer,
    .kernel = "table",
    .emit = table_emit,
};
