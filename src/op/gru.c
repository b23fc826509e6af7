/* gru.c - GRU: a recurrent layer with gated units. */
#include "op/op_rnn.h"

static const hg_rnn_form gru_form = {
    .gates = 3, .activation = {"Sigmoid", "Tanh"}, .variant = "linear_before_reset"};

static holo_status gru_infer(hg_infer *n)
{
    return hg_rnn_infer(n, &gru_form);
}

static holo_status gru_emit(hg_emit *e)
{
    return hg_rnn_emit(e, &gru_form);
}

static holo_status gru_gradient(hg_gradient *d)
{
    return hg_rnn_gradient(d, &gru_form);
}

const hg_op hg_op_gru = {
    .name = "GRU",
    .brief = "a recurrent layer with gated units",
    .since = 1,
    .version = 22,
    .in = {3, 6},
    .out = {0, 2},
    .types = HG_TYPES_FLOAT,
    .infer = gru_infer,
    .kernel = "gru",
    .emit = gru_emit,
    .gradient = gru_gradient,
};
