/* scatterelements.c - ScatterElements: a tensor with single elements replaced or combined. */
#include "op/op.h"
#include "op/op_scatter.h"

static holo_status scatterelements_infer(hg_infer *n)
{
    const int32_t rank = n->in[0]->rank;
    int32_t axis;
    HG_TRY(hg_scatter_infer(n));
    HG_TRY(hg_infer_rank(n, 1, rank, rank));
    HG_TRY(hg_infer_rank(n, 2, rank, rank));
    for (int32_t i = 0; i < rank; i++)
        if (!hg_infer_equal(n, n->in[1]->dim[i], n->in[2]->dim[i]))
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d of indices and updates differs", i);
    return hg_attr_axis(n, "axis", 0, rank, &axis);
}

static holo_status scatterelements_emit(hg_emit *e)
{
    int64_t axis = hg_node_int(e->node, "axis", 0);
    HG_TRY(hg_scatter_code(e));
    return hg_emit_int(e, axis < 0 ? axis + hg_emit_type(e, 0)->rank : axis);
}

const hg_op hg_op_scatterelements = {
    .name = "ScatterElements",
    .brief = "a tensor with single elements replaced or combined",
    .since = 11,
    .version = 18,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = scatterelements_infer,
    .kernel = "scatterelements",
    .emit = scatterelements_emit,
    .gradient = hg_scatter_gradient,
};
