/* tensorscatter.c - TensorScatter: a cache with new rows written from given places on. */
#include "op/op.h"

static holo_status tensorscatter_infer(hg_infer *n)
{
    int32_t axis;
    hg_str mode;
    HG_TRY(hg_infer_same_type(n, 0, 1));
    HG_TRY(hg_infer_rank(n, 1, n->in[0]->rank, n->in[0]->rank));
    HG_TRY(hg_attr_axis(n, "axis", -2, n->in[0]->rank, &axis));
    if (axis == 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "axis is 0, the batch, expected another one");
    HG_TRY(hg_attr_string(n, "mode", "linear", &mode));
    if (!hg_str_is(mode, "linear") && !hg_str_is(mode, "circular"))
        return hg_infer_fail(n, HOLO_E_MODEL, "mode is \"%.*s\", expected linear or circular",
                             HG_STR_ARG(mode));
    if (hg_infer_has(n, 2)) {
        HG_TRY(hg_infer_types(n, 2, HG_TYPE_BIT(HOLO_I64)));
        HG_TRY(hg_infer_rank(n, 2, 1, 1));
    }
    return hg_infer_same_as_input(n);
}

static holo_status tensorscatter_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", -2), rank = hg_emit_type(e, 0)->rank;
    HG_TRY(hg_emit_int(e, axis < 0 ? axis + rank : axis));
    return hg_emit_int(e, hg_str_is(hg_node_string(e->node, "mode", "linear"), "circular"));
}

const hg_op hg_op_tensorscatter = {
    .name = "TensorScatter",
    .brief = "a cache with new rows written from given places on",
    .since = 24,
    .in = {2, 3},
    .out = {1, 1},
    .infer = tensorscatter_infer,
    .kernel = "tensorscatter",
    .emit = tensorscatter_emit,
};
