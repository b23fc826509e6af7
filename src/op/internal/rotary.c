/* rotary.c - holo:Rotary: x * cos + (-second half of x, first half of x) * sin along the last axis.
 */
#include "op/op.h"

static holo_status rotary_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    for (uint32_t i = 1; i < 3; i++) {
        HG_TRY(hg_infer_rank(n, i, 1, n->in[0]->rank));
        HG_TRY(hg_infer_same_type(n, 0, i));
    }
    n->out[0] = *n->in[0];
    return HOLO_OK;
}

const hg_op hg_op_internal_rotary = {
    .name = "Rotary",
    .domain = "holo",
    .brief = "halves of rows turned by angles",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = rotary_infer,
    .kernel = "rotary",
};
