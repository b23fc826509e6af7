/* op_cumulate.c - shape rule and kernel call of CumSum and CumProd. */
#include "op/op_cumulate.h"

#include "op/op_shape.h"

holo_status hg_cumulate_infer(hg_infer *n)
{
    const hg_dim *axis;
    uint32_t count;
    int64_t exclusive, reverse;
    hg_axes axes;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_infer_need_content(n, 1, &axis, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "axis has %u elements, expected 1", count);
    HG_TRY(hg_shape_axes(n, axis, 1, n->in[0]->rank, &axes));
    HG_TRY(hg_attr_int(n, "exclusive", 0, &exclusive));
    HG_TRY(hg_attr_int(n, "reverse", 0, &reverse));
    return hg_infer_same_as_input(n);
}

holo_status hg_cumulate_emit(hg_emit *e)
{
    const hg_dim *axis;
    uint32_t count;
    HG_TRY(hg_emit_content(e, 1, &axis, &count));
    e->n_in = 1;
    HG_TRY(hg_emit_dim(e, hg_shape_axis(&e->g->dims, axis[0], hg_emit_type(e, 0)->rank)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "exclusive", 0) != 0));
    return hg_emit_int(e, hg_node_int(e->node, "reverse", 0) != 0);
}
