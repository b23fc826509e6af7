/* hardmax.c - Hardmax: 1 where the first largest element along an axis is, 0 elsewhere. */
#include "op/op_softmax.h"

static holo_status hardmax_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const hg_type *type = hg_build_type(b, x);
    holo_dtype dtype = type->dtype;
    int64_t axis = hg_node_int(b->node, "axis", -1);
    hg_dim size = type->dim[axis < 0 ? axis + type->rank : axis];
    hg_attr where[] = {hg_attr_make_int("axis", axis), hg_attr_make_int("keepdims", 0)};
    hg_value_id index = hg_build_op(b, "ArgMax", &x, 1, where, HG_COUNT(where));
    hg_value_id in[] = {index, hg_build_dims(b, &size, 1), hg_build_ints(b, (int64_t[]){0, 1}, 2)};
    hg_value_id y = hg_build_op(b, "OneHot", in, HG_COUNT(in), where, 1);
    hg_build_replace(b, 0, hg_build_cast(b, y, dtype));
    return b->status;
}

const hg_op hg_op_hardmax = {
    .name = "Hardmax",
    .brief = "1 where the first largest element along an axis is, 0 elsewhere",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = hg_softmax_upgrade,
    .infer = hg_softmax_infer,
    .lower = hardmax_lower,
};
