/* recur.c - holo:Recur: RNN, GRU or LSTM behind the product of its inputs, with packed R. */
#include "op/op_rnn.h"

/* In the order of hg_rnn_kind. */
static const hg_rnn_form *recur_form(const hg_node *node)
{
    static const hg_rnn_form *const forms[] = {&hg_rnn_form_plain, &hg_rnn_form_gru,
                                               &hg_rnn_form_lstm};
    const int64_t kind = hg_node_int(node, "kind", 0);
    return forms[kind < 0 || kind > HG_RNN_LSTM ? 0 : kind];
}

static holo_status recur_infer(hg_infer *n)
{
    const hg_rnn_form *form = recur_form(n->node);
    HG_TRY(hg_infer_rank(n, HG_RECUR_X, 3, 3));
    HG_TRY(hg_infer_rank(n, HG_RECUR_R, 3, 3));
    const hg_dim hidden = n->in[HG_RECUR_R]->dim[1];
    int64_t direction;
    HG_TRY(hg_rnn_direction(n, &direction));
    const int64_t gates = form->gates * (direction == HG_RNN_BIDIRECTIONAL ? 2 : 1);
    if (!hg_infer_equal(n, n->in[HG_RECUR_X]->dim[2],
                        hg_dim_mul(n->dims, hidden, hg_dim_const(n->dims, gates))))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "X does not have %lld columns for each hidden element",
                             (long long)gates);
    return hg_rnn_infer_outs(n, form, hidden);
}

static holo_status recur_emit(hg_emit *e)
{
    HG_TRY(hg_rnn_emit(e, recur_form(e->node)));
    return hg_emit_int(e, hg_node_int(e->node, "kind", 0));
}

const hg_op hg_op_internal_recur = {
    .name = "Recur",
    .domain = "holo",
    .brief = "the steps of RNN, GRU or LSTM on what their inputs add to the gates",
    .since = 1,
    .in = {2, 7},
    .out = {0, 3},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_I32),
    .flags = HG_OP_INTERNAL,
    .infer = recur_infer,
    .kernel = "recur.p16",
    .emit = recur_emit,
};
