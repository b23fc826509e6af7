/* dims.c - holo:Dims: a 1-D int64 tensor whose elements are dimension expressions. */
#include "op/op.h"

static holo_status dims_infer(hg_infer *n)
{
    const hg_attr *a = hg_node_attr(n->node, "dims");
    if (a == NULL || a->kind != HG_ATTR_DIMS)
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute 'dims' is missing");
    n->out[0] = (hg_type){.dtype = HOLO_I64, .rank = 1};
    n->out[0].dim[0] = hg_dim_const(n->dims, (int64_t)a->count);
    n->out_content[0] = a->dims;
    n->n_out_content[0] = (uint32_t)a->count;
    return HOLO_OK;
}

/* A step of its own, not a kernel: the planner knows it by name. */
static holo_status dims_emit(hg_emit *e)
{
    const hg_attr *a = hg_node_attr(e->node, "dims");
    e->kernel = "dims";
    for (size_t i = 0; i < a->count; i++)
        HG_TRY(hg_emit_dim(e, a->dims[i]));
    return HOLO_OK;
}

const hg_op hg_op_internal_dims = {
    .name = "Dims",
    .domain = "holo",
    .brief = "a 1-D int64 tensor of dimension expressions",
    .since = 1,
    .in = {0, 0},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = dims_infer,
    .emit = dims_emit,
};
