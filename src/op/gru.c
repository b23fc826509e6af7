/* gru.c - GRU: a recurrent layer with gated units. */
#include "op/op_rnn.h"

static holo_status gru_infer(hg_infer *n)
{
    return hg_rnn_infer(n, &hg_rnn_form_gru);
}

static holo_status gru_emit(hg_emit *e)
{
    return hg_rnn_emit(e, &hg_rnn_form_gru);
}

static holo_status gru_gradient(hg_gradient *d)
{
    return hg_rnn_gradient(d, &hg_rnn_form_gru);
}

const hg_op hg_op_gru = {
    .name = "GRU",
    .brief = "a recurrent layer with gated units",
    .since = 1,
    .version = 22,
    .in = {3, 6},
    .out = {0, 2},
    .types = HG_TYPES_FLOAT,
    .flags = HG_OP_WIDE_WEIGHTS,
    .infer = gru_infer,
    .kernel = "gru",
    .emit = gru_emit,
    .gradient = gru_gradient,
};
