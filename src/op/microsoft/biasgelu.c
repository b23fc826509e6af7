/* biasgelu.c - com.microsoft:BiasGelu: Gelu of a sum. */
#include "op/op.h"

static holo_status biasgelu_lower(hg_build *b)
{
    hg_value_id sum = hg_build_2(b, "Add", hg_build_in(b, 0), hg_build_in(b, 1));
    hg_build_replace(b, 0, hg_build_1(b, "Gelu", sum));
    return b->status;
}

const hg_op hg_op_microsoft_biasgelu = {
    .name = "BiasGelu",
    .domain = "com.microsoft",
    .brief = "Gelu of a sum",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_infer_broadcast,
    .lower = biasgelu_lower,
};
