/* quickgelu.c - com.microsoft:QuickGelu: y = x / (1 + e^(-alpha x)), alpha 1.702 unless stated. */
#include "op/op.h"

#define QUICKGELU_ALPHA 1.702

static holo_status quickgelu_infer(hg_infer *n)
{
    double alpha;
    HG_TRY(hg_attr_float(n, "alpha", QUICKGELU_ALPHA, &alpha));
    return hg_infer_same_as_input(n);
}

static holo_status quickgelu_lower(hg_build *b)
{
    hg_attr alpha = hg_attr_make_float("alpha", hg_node_float(b->node, "alpha", QUICKGELU_ALPHA));
    hg_value_id x = hg_build_in(b, 0);
    hg_build_replace(b, 0, hg_build_op(b, "Swish", &x, 1, &alpha, 1));
    return b->status;
}

const hg_op hg_op_microsoft_quickgelu = {
    .name = "QuickGelu",
    .domain = "com.microsoft",
    .brief = "y = x / (1 + e^(-alpha x))",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = quickgelu_infer,
    .lower = quickgelu_lower,
};
