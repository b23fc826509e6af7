/* lpnormalization.c - LpNormalization: x over its p-norm along an axis; 0 where the norm is 0. */
#include "op/op_reduce.h"

static holo_status lpnormalization_infer(hg_infer *n)
{
    int32_t axis;
    int64_t p;
    HG_TRY(hg_attr_axis(n, "axis", -1, n->in[0]->rank, &axis));
    HG_TRY(hg_attr_int(n, "p", 2, &p));
    if (p != 1 && p != 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "p is %lld, expected 1 or 2", (long long)p);
    return hg_infer_same_as_input(n);
}

static holo_status lpnormalization_lower(hg_build *b)
{
    hg_value_id x = hg_build_wide(b, hg_build_in(b, 0));
    holo_dtype dtype = hg_build_type(b, x)->dtype;
    int64_t axis = hg_node_int(b->node, "axis", -1);
    if (axis < 0) axis += hg_build_type(b, x)->rank;
    hg_value_id norm =
        hg_build_norm(b, x, hg_node_int(b->node, "p", 2), (int32_t)axis, (int32_t)axis + 1);
    hg_value_id zero = hg_build_scalar(b, dtype, 0.0), one = hg_build_scalar(b, dtype, 1.0);
    hg_value_id divisor = hg_build_3(b, "Where", hg_build_2(b, "Equal", norm, zero), one, norm);
    hg_value_id y = hg_build_2(b, "Div", x, divisor);
    hg_build_replace(b, 0, hg_build_cast(b, y, hg_build_type(b, hg_build_in(b, 0))->dtype));
    return b->status;
}

const hg_op hg_op_lpnormalization = {
    .name = "LpNormalization",
    .brief = "x over its p-norm along an axis",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = lpnormalization_infer,
    .lower = lpnormalization_lower,
};
