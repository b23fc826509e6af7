/* flatten.c - Flatten: a matrix of the dimensions before and from an axis on. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"

static holo_status flatten_infer(hg_infer *n)
{
    int32_t rank = n->in[0]->rank;
    int64_t axis;
    HG_TRY(hg_attr_int(n, "axis", 1, &axis));
    if (axis < -rank || axis > rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "axis is %lld, expected %d to %d", (long long)axis,
                             -rank, rank);
    int32_t at = (int32_t)(axis < 0 ? axis + rank : axis);
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype, .rank = 2};
    n->out[0].dim[0] = hg_shape_product(n->dims, n->in[0], 0, at);
    n->out[0].dim[1] = hg_shape_product(n->dims, n->in[0], at, rank);
    hg_shape_keep_content(n);
    return HOLO_OK;
}

const hg_op hg_op_flatten = {
    .name = "Flatten",
    .brief = "a matrix of the dimensions before and from an axis on",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .infer = flatten_infer,
    .emit = hg_emit_same_elements,
    .gradient = hg_gradient_same_elements,
};
