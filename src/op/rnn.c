/* rnn.c - RNN: a recurrent layer: h = f(W x + R h + b). */
#include "op/op_rnn.h"

static holo_status rnn_infer(hg_infer *n)
{
    return hg_rnn_infer(n, &hg_rnn_form_plain);
}

static holo_status rnn_emit(hg_emit *e)
{
    return hg_rnn_emit(e, &hg_rnn_form_plain);
}

static holo_status rnn_gradient(hg_gradient *d)
{
    return hg_rnn_gradient(d, &hg_rnn_form_plain);
}

const hg_op hg_op_rnn = {
    .name = "RNN",
    .brief = "a recurrent layer: h = f(W x + R h + b)",
    .since = 1,
    .version = 22,
    .in = {3, 6},
    .out = {0, 2},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_WIDE_WEIGHTS,
    .infer = rnn_infer,
    .kernel = "rnn",
    .emit = rnn_emit,
    .gradient = rnn_gradient,
};
