/* logsoftmax.c - LogSoftmax: the logarithm of softmax along an axis. */
#include "op/op_softmax.h"

static holo_status logsoftmax_emit(hg_emit *e)
{
    return hg_softmax_emit(e, true);
}

static holo_status logsoftmax_gradient(hg_gradient *d)
{
    return hg_softmax_gradient(d, true);
}

const hg_op hg_op_logsoftmax = {
    .name = "LogSoftmax",
    .brief = "the logarithm of softmax along an axis",
    .since = 1,
    .version = 13,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .upgrade = hg_softmax_upgrade,
    .infer = hg_softmax_infer,
    .kernel = "softmax",
    .emit = logsoftmax_emit,
    .gradient = logsoftmax_gradient,
};
