/* formatnumber.c - holo:FormatNumber: numbers as text. */
#include "op/op.h"

static holo_status formatnumber_infer(hg_infer *n)
{
    n->out[0] = *n->in[0];
    n->out[0].dtype = HOLO_STRING;
    return HOLO_OK;
}

const hg_op hg_op_internal_formatnumber = {
    .name = "FormatNumber",
    .domain = "holo",
    .brief = "numbers as text",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F64) | HG_TYPE_BIT(HOLO_I64) |
             HG_TYPE_BIT(HOLO_U64) | HG_TYPES_BOOL,
    .flags = HG_OP_INTERNAL,
    .infer = formatnumber_infer,
    .kernel = "string.format",
};
