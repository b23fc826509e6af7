/* convgated.c - holo:ConvGated: 1x1 convolution of an input whose channels are scaled, with an
 * epilogue. */
#include "op/op_matmul.h"

#include "kernel/conv_gated.h"

static holo_status convgated_infer(hg_infer *n)
{
    hg_dim channels;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_infer_rank(n, 2, 4, 4));
    HG_TRY(hg_attr_dim(n, "out_channels", &channels));
    n->out[0] = *n->in[0];
    n->out[0].dim[3] = channels;
    return hg_epilogue_type(n, HG_CONV_GATED_FIRST_EXTRA, &n->out[0].dtype);
}

const hg_op hg_op_internal_convgated = {
    .name = "ConvGated",
    .domain = "holo",
    .brief = "1x1 convolution, channels last, of an input whose channels are scaled",
    .since = 1,
    .in = {3, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convgated_infer,
    .kernel = "conv.gated",
};
