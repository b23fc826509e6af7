/* part.c - holo:Part: places begin to begin + size along an axis. Unlike Slice it is as large as it
 * says: what the input does not hold is an error. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static hg_dim part_dim(const hg_node *n, const char *name)
{
    const hg_attr *a = hg_node_attr(n, name);
    return a != NULL && a->kind == HG_ATTR_DIMS && a->count == 1 ? a->dims[0] : 0;
}

static holo_status part_infer(hg_infer *n)
{
    int32_t axis;
    HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
    if (part_dim(n->node, "begin") == 0 || part_dim(n->node, "size") == 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "begin or size is missing");
    n->out[0] = *n->in[0];
    n->out[0].dim[axis] = part_dim(n->node, "size");
    return HOLO_OK;
}

static holo_status part_emit(hg_emit *e)
{
    const hg_type *in = hg_emit_type(e, 0), *out = hg_emit_out_type(e, 0);
    hg_dim stride[HG_MAX_RANK];
    const int64_t axis = hg_node_int(e->node, "axis", 0);
    hg_shape_strides(&e->g->dims, in, stride);
    hg_copy copy = {0};
    copy.offset = hg_dim_mul(&e->g->dims, part_dim(e->node, "begin"), stride[axis]);
    for (int32_t i = 0; i < in->rank; i++)
        hg_copy_loop(&copy, out->dim[i], stride[i]);
    return hg_emit_copy(e, &copy);
}

static holo_status part_gradient(hg_gradient *d)
{
    hg_dims *dims = &d->b->g->dims;
    const hg_node *node = hg_gradient_node(d);
    const hg_type type = *hg_gradient_type(d, 0);
    const int64_t axis = hg_node_int(node, "axis", 0);
    const hg_dim begin = part_dim(node, "begin"), size = part_dim(node, "size");
    hg_dim before[HG_MAX_RANK], after[HG_MAX_RANK];
    for (int32_t i = 0; i < type.rank; i++)
        before[i] = after[i] = hg_dim_const(dims, 0);
    before[axis] = begin;
    after[axis] = hg_dim_sub(dims, hg_dim_sub(dims, type.dim[axis], begin), size);
    d->in[0] = hg_build_pad(d->b, d->out[0], before, after, type.rank);
    return d->b->status;
}

const hg_op hg_op_internal_part = {
    .name = "Part",
    .domain = "holo",
    .brief = "some places along an axis",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = part_infer,
    .kernel = "copy.strided",
    .emit = part_emit,
    .gradient = part_gradient,
};
