/* packdw.c - holo:PackDw: depthwise weights, channels last, as conv.dw reads them. */
#include "op/op.h"

static holo_status packdw_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 4, 5));
    const hg_dim *w = n->in[0]->dim;
    hg_dim taps = w[2];
    for (int32_t k = 3; k < n->in[0]->rank; k++)
        taps = hg_dim_mul(n->dims, taps, w[k]);
    n->out[0] = (hg_type){.dtype = n->in[0]->dtype, .rank = 2, .dim = {taps, w[0]}};
    return HOLO_OK;
}

const hg_op hg_op_internal_packdw = {
    .name = "PackDw",
    .domain = "holo",
    .brief = "depthwise weights, channels last",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types =
        HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_U8) | HG_TYPE_BIT(HOLO_I8),
    .flags = HG_OP_INTERNAL | HG_OP_AT_WRITE,
    .infer = packdw_infer,
    .kernel = "pack.dw",
};
