/* lstm.c - LSTM: a recurrent layer with long short-term memory. */
#include "op/op_rnn.h"

static holo_status lstm_infer(hg_infer *n)
{
    return hg_rnn_infer(n, &hg_rnn_form_lstm);
}

static holo_status lstm_emit(hg_emit *e)
{
    return hg_rnn_emit(e, &hg_rnn_form_lstm);
}

static holo_status lstm_gradient(hg_gradient *d)
{
    return hg_rnn_gradient(d, &hg_rnn_form_lstm);
}

const hg_op hg_op_lstm = {
    .name = "LSTM",
    .brief = "a recurrent layer with long short-term memory",
    .since = 1,
    .version = 22,
    .in = {3, 8},
    .out = {0, 3},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_WIDE_WEIGHTS,
    .infer = lstm_infer,
    .kernel = "lstm",
    .emit = lstm_emit,
    .gradient = lstm_gradient,
};
