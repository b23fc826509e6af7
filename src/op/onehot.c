/* onehot.c - OneHot: a new axis that holds one value at the index and another elsewhere. */
#include "op/op.h"
#include "op/op_shape.h"

/* The depth as an expression, or as what the kernel finds when it is a float. */
static holo_status onehot_depth(hg_infer *n, int32_t axis, hg_dim *depth)
{
    const hg_dim *content;
    uint32_t count;
    double number;
    if (hg_dtype_in(n->in[1]->dtype, HG_TYPES_INT)) {
        HG_TRY(hg_infer_need_content(n, 1, &content, &count));
        *depth = content[0];
    } else if (hg_graph_const_scalar(n->g, hg_node_in(n->g, n->node, 1), &number)) {
        if (!(number >= 0 && number < 0x1p58))
            return hg_infer_fail(n, HOLO_E_SHAPE, "depth is %g, expected 0 or more", number);
        *depth = hg_dim_const(n->dims, (int64_t)number);
    } else {
        *depth = hg_infer_late_dim(n, 0, (uint32_t)axis);
    }
    return HOLO_OK;
}

static holo_status onehot_infer(hg_infer *n)
{
    const hg_type *index = n->in[0];
    const int32_t rank = index->rank + 1;
    int32_t axis;
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_NUMBER));
    HG_TRY(hg_infer_types(n, 2, HG_TYPES_ANY & ~HG_TYPES_NARROW));
    HG_TRY(hg_infer_rank(n, 0, 0, HG_MAX_RANK - 1));
    HG_TRY(hg_attr_axis(n, "axis", -1, rank, &axis));
    for (uint32_t i = 1; i < 3; i++)
        if (!hg_infer_equal(n, hg_type_count(n->g, n->in[i]), hg_dim_const(n->dims, i)))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not have %u elements", i, i);
    n->out[0] = (hg_type){.dtype = n->in[2]->dtype, .rank = rank};
    for (int32_t i = 0; i < rank; i++)
        if (i != axis) n->out[0].dim[i] = index->dim[i < axis ? i : i - 1];
    return onehot_depth(n, axis, &n->out[0].dim[axis]);
}

static holo_status onehot_emit(hg_emit *e)
{
    const int32_t rank = hg_emit_out_type(e, 0)->rank;
    int64_t axis = hg_node_int(e->node, "axis", -1);
    if (axis < 0) axis += rank;
    if (hg_shape_is_late(e, 0, (int32_t)axis)) e->kernel = "onehot.late";
    return hg_emit_int(e, axis);
}

const hg_op hg_op_onehot = {
    .name = "OneHot",
    .brief = "a new axis that holds one value at the index and another elsewhere",
    .since = 9,
    .version = 11,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPES_NUMBER,
    .infer = onehot_infer,
    .kernel = "onehot",
    .emit = onehot_emit,
};
