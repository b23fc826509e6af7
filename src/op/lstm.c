/* lstm.c - LSTM: a recurrent layer with long short-term memory. */
#include "op/op_rnn.h"

static const hg_rnn_form lstm_form = {
    .gates = 4, .activation = {"Sigmoid", "Tanh", "Tanh"}, .variant = "input_forget"};

static holo_status lstm_infer(hg_infer *n)
{
    return hg_rnn_infer(n, &lstm_form);
}

static holo_status lstm_emit(hg_emit *e)
{
    return hg_rnn_emit(e, &lstm_form);
}

static holo_status lstm_gradient(hg_gradient *d)
{
    return hg_rnn_gradient(d, &lstm_form);
}

const hg_op hg_op_lstm = {
    .name = "LSTM",
    .brief = "a recurrent layer with long short-term memory",
    .since = 1,
    .version = 22,
    .in = {3, 8},
    .out = {0, 3},
    .types = HG_TYPES_FLOAT,
    .infer = lstm_infer,
    .kernel = "lstm",
    .emit = lstm_emit,
    .gradient = lstm_gradient,
};
