/* rmsnormalization.c - RMSNormalization: x over the root of its mean square over the last axes,
 * then scale. */
#include "op/op_norm.h"

static holo_status rmsnormalization_infer(hg_infer *n)
{
    HG_TRY(hg_norm_infer(n));
    n->out[0].dtype = n->in[1]->dtype;
    return HOLO_OK;
}

static holo_status rmsnormalization_lower(hg_build *b)
{
    return hg_norm_lower(b, HG_NORM_RMS);
}

static holo_status rmsnormalization_emit(hg_emit *e)
{
    return hg_norm_emit(e, HG_NORM_RMS);
}

static holo_status rmsnormalization_gradient(hg_gradient *d)
{
    return hg_norm_gradient(d, HG_NORM_RMS);
}

const hg_op hg_op_rmsnormalization = {
    .name = "RMSNormalization",
    .brief = "x over the root of its mean square over the last axes, then scale",
    .since = 23,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = rmsnormalization_infer,
    .lower = rmsnormalization_lower,
    .kernel = "layernorm",
    .emit = rmsnormalization_emit,
    .gradient = rmsnormalization_gradient,
};
