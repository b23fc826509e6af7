/* fastgelu.c - com.microsoft:FastGelu: Gelu through tanh, of a sum when there is a bias. */
#include "op/op.h"

static holo_status fastgelu_lower(hg_build *b)
{
    hg_attr approximate = hg_attr_make_string("approximate", "tanh");
    hg_value_id x = hg_build_in(b, 0), bias = hg_build_in(b, 1);
    if (bias != 0) x = hg_build_2(b, "Add", x, bias);
    hg_build_replace(b, 0, hg_build_op(b, "Gelu", &x, 1, &approximate, 1));
    return b->status;
}

const hg_op hg_op_microsoft_fastgelu = {
    .name = "FastGelu",
    .domain = "com.microsoft",
    .brief = "Gelu through tanh, of a sum when there is a bias",
    .since = 1,
    .in = {1, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_broadcast,
    .lower = fastgelu_lower,
};
