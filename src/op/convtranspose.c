/* convtranspose.c - ConvTranspose: the gradient of a convolution with respect to its input. */
#include "op/op_conv.h"

static holo_status convtranspose_infer(hg_infer *n)
{
    hg_conv c;
    return hg_conv_infer(n, HG_CONV_TRANSPOSED, &c);
}

static holo_status convtranspose_emit(hg_emit *e)
{
    return hg_conv_emit(e, HG_CONV_TRANSPOSED);
}

static holo_status convtranspose_gradient(hg_gradient *d)
{
    return hg_conv_gradient(d, HG_CONV_TRANSPOSED);
}

const hg_op hg_op_convtranspose = {
    .name = "ConvTranspose",
    .brief = "transposed convolution over any number of spatial axes, in groups",
    .since = 1,
    .version = 22,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_WIDE_CODES,
    .infer = convtranspose_infer,
    .kernel = "convtranspose",
    .emit = convtranspose_emit,
    .gradient = convtranspose_gradient,
};
