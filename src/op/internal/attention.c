/* attention.c - holo:Attention: softmax(scale Q K' + mask) V by heads, operands read by strides.
 *
 *   sizes   batch, heads, queries, keys, size, width, repeat
 *   q k v   offset and strides over batch, head, row and column
 *   by_row  1: the result is [batch, queries, heads, width]; 0: [batch, heads, queries, width] */
#include "op/op.h"

#include "kernel/attention.h"

enum { ATTENTION_SIZES = 7, ATTENTION_VIEW = 5 };

static const char *const attention_views[] = {"q", "k", "v"};

static holo_status attention_dims(const hg_infer *n, const char *name, size_t count,
                                  const hg_dim **out)
{
    const hg_attr *a = hg_node_attr(n->node, name);
    if (a == NULL || a->kind != HG_ATTR_DIMS || a->count != count)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%s' is not %zu dimensions", name, count);
    *out = a->dims;
    return HOLO_OK;
}

static holo_status attention_fused_infer(hg_infer *n)
{
    int64_t by_row, number;
    double value;
    const hg_dim *size, *view;
    HG_TRY(attention_dims(n, "sizes", ATTENTION_SIZES, &size));
    for (uint32_t i = 0; i < 3; i++) {
        HG_TRY(hg_infer_types(n, i, HG_TYPE_BIT(HOLO_F32)));
        HG_TRY(attention_dims(n, attention_views[i], ATTENTION_VIEW, &view));
    }
    if (hg_infer_has(n, HG_ATTENTION_BIAS))
        HG_TRY(hg_infer_types(n, HG_ATTENTION_BIAS, HG_TYPE_BIT(HOLO_F32)));
    if (hg_infer_has(n, HG_ATTENTION_KEEP))
        HG_TRY(hg_infer_types(n, HG_ATTENTION_KEEP, HG_TYPE_BIT(HOLO_BOOL)));
    HG_TRY(hg_attr_int(n, "by_row", 0, &by_row));
    HG_TRY(hg_attr_int(n, "empty", 0, &number));
    HG_TRY(hg_attr_int(n, "drops", 0, &number));
    HG_TRY(hg_attr_float(n, "fill", 0.0, &value));
    HG_TRY(hg_attr_float(n, "scale", 1.0, &value));
    n->out[0] = (hg_type){.dtype = HOLO_F32,
                          .rank = 4,
                          .dim = {size[HG_ATTENTION_BATCH],
                                  size[by_row != 0 ? HG_ATTENTION_QUERIES : HG_ATTENTION_HEADS],
                                  size[by_row != 0 ? HG_ATTENTION_HEADS : HG_ATTENTION_QUERIES],
                                  size[HG_ATTENTION_WIDTH]}};
    return HOLO_OK;
}

static holo_status attention_fused_emit(hg_emit *e)
{
    const hg_attr *size = hg_node_attr(e->node, "sizes");
    for (size_t k = 0; k < size->count; k++)
        HG_TRY(hg_emit_dim(e, size->dims[k]));
    for (uint32_t i = 0; i < 3; i++) {
        const hg_attr *view = hg_node_attr(e->node, attention_views[i]);
        for (size_t k = 0; k < view->count; k++)
            HG_TRY(hg_emit_dim(e, view->dims[k]));
    }
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "by_row", 0) != 0));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "empty", 0)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "drops", 0) != 0));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "fill", 0.0)));
    return hg_emit_float(e, hg_node_float(e->node, "scale", 1.0));
}

const hg_op hg_op_internal_attention = {
    .name = "Attention",
    .domain = "holo",
    .brief = "softmax of scaled products of queries and keys, times values, in one kernel",
    .since = 1,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = attention_fused_infer,
    .kernel = "attention",
    .emit = attention_fused_emit,
};
