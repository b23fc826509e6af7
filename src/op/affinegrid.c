/* affinegrid.c - AffineGrid: the places of an affine picture of a grid. */
#include "op/op.h"

static holo_status affinegrid_infer(hg_infer *n)
{
    const hg_dim *size;
    uint32_t count;
    int64_t align;
    HG_TRY(hg_infer_rank(n, 0, 3, 3));
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    HG_TRY(hg_attr_int(n, "align_corners", 0, &align));
    HG_TRY(hg_infer_need_content(n, 1, &size, &count));
    if (count != 4 && count != 5)
        return hg_infer_fail(n, HOLO_E_SHAPE, "size has %u elements, expected 4 or 5", count);
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = n->in[0]->dtype, .rank = (int32_t)count, .dim = {n->in[0]->dim[0]}};
    for (uint32_t i = 2; i < count; i++)
        out->dim[i - 1] = size[i];
    out->dim[count - 1] = hg_dim_const(n->dims, (int64_t)count - 2);
    return HOLO_OK;
}

static holo_status affinegrid_emit(hg_emit *e)
{
    e->n_in = 1;
    return hg_emit_int(e, hg_node_int(e->node, "align_corners", 0) != 0);
}

const hg_op hg_op_affinegrid = {
    .name = "AffineGrid",
    .brief = "the places of an affine picture of a grid",
    .since = 20,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = affinegrid_infer,
    .kernel = "affinegrid",
    .emit = affinegrid_emit,
};
