/* qlinearsoftmax.c - com.microsoft:QLinearSoftmax: Softmax of 8-bit codes, on the numbers behind
 * them; before opset 13 over all axes from `axis` on. */
#include "op/op_qlinear.h"

enum { QLINEARSOFTMAX_ONE_AXIS = 13 };

static holo_status qlinearsoftmax_infer(hg_infer *n)
{
    int64_t opset;
    int32_t axis;
    HG_TRY(hg_attr_int(n, "opset", 0, &opset));
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_axis(n, "axis", -1, n->in[0]->rank, &axis));
    if (opset < 1)
        return hg_infer_fail(n, HOLO_E_MODEL, "opset is %lld, expected at least 1",
                             (long long)opset);
    return hg_qlinear_infer(n);
}

static holo_status qlinearsoftmax_lower(hg_build *b)
{
    const hg_type type = *hg_build_type(b, hg_build_in(b, 0));
    int64_t stated = hg_node_int(b->node, "axis", -1);
    bool flat = hg_node_int(b->node, "opset", 0) < QLINEARSOFTMAX_ONE_AXIS;
    hg_attr axis = hg_attr_make_int("axis", flat ? 1 : stated);
    hg_value_id x = hg_build_dequantized(b, 0);
    if (flat) {
        hg_attr from = hg_attr_make_int("axis", stated < 0 ? stated + type.rank : stated);
        x = hg_build_op(b, "Flatten", &x, 1, &from, 1);
    }
    hg_value_id y = hg_build_op(b, "Softmax", &x, 1, &axis, 1);
    if (flat) y = hg_build_reshape(b, y, type.dim, (uint32_t)type.rank);
    hg_build_replace(b, 0, hg_build_quantized(b, y, 3, type.dtype));
    return b->status;
}

const hg_op hg_op_microsoft_qlinearsoftmax = {
    .name = "QLinearSoftmax",
    .domain = "com.microsoft",
    .brief = "Softmax of 8-bit codes, on the numbers behind them",
    .since = 1,
    .in = {4, 5},
    .out = {1, 1},
    .types = HG_QLINEAR_TYPES,
    .infer = qlinearsoftmax_infer,
    .lower = qlinearsoftmax_lower,
};
