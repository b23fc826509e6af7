/* parsenumber.c - holo:ParseNumber: text as numbers; attribute `to` is their type. */
#include "op/op.h"

static holo_status parsenumber_infer(hg_infer *n)
{
    int64_t to;
    HG_TRY(hg_attr_int(n, "to", HOLO_F32, &to));
    n->out[0] = *n->in[0];
    n->out[0].dtype = (holo_dtype)to;
    return HOLO_OK;
}

const hg_op hg_op_internal_parsenumber = {
    .name = "ParseNumber",
    .domain = "holo",
    .brief = "text as numbers",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .flags = HG_OP_INTERNAL,
    .infer = parsenumber_infer,
    .kernel = "string.parse",
};
