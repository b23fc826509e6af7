/* conv.c - Conv: cross-correlation over any number of spatial axes, in groups, with bias. */
#include "op/op_conv.h"

static holo_status conv_infer(hg_infer *n)
{
    hg_conv c;
    return hg_conv_infer(n, HG_CONV_FORWARD, &c);
}

static holo_status conv_emit(hg_emit *e)
{
    return hg_conv_emit(e, HG_CONV_FORWARD);
}

static holo_status conv_gradient(hg_gradient *d)
{
    return hg_conv_gradient(d, HG_CONV_FORWARD);
}

const hg_op hg_op_conv = {
    .name = "Conv",
    .brief = "convolution over any number of spatial axes, in groups",
    .since = 1,
    .version = 22,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_WIDE_CODES,
    .infer = conv_infer,
    .kernel = "conv",
    .emit = conv_emit,
    .gradient = conv_gradient,
};
