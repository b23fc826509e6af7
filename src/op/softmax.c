/* softmax.c - Softmax: e^x over its sum along an axis. */
#include "op/op_softmax.h"

static holo_status softmax_emit(hg_emit *e)
{
    return hg_softmax_emit(e, false);
}

static holo_status softmax_gradient(hg_gradient *d)
{
    return hg_softmax_gradient(d, false);
}

const hg_op hg_op_softmax = {
    .name = "Softmax",
    .brief = "e^x over its sum along an axis",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = hg_softmax_upgrade,
    .infer = hg_softmax_infer,
    .kernel = "softmax",
    .emit = softmax_emit,
    .gradient = softmax_gradient,
};
