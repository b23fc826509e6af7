/* op_rnn.h - what RNN, GRU and LSTM share. */
#ifndef HG_OP_OP_RNN_H
#define HG_OP_OP_RNN_H

#include "kernel/recur.h"
#include "op/op.h"

typedef struct hg_rnn_form {
    int64_t gates;
    const char *activation[3]; /* of one direction, NULL after the last */
    const char *variant;       /* attribute that becomes parameter HG_RNN_PARAM_VARIANT, or NULL */
} hg_rnn_form;

/* Those of the standard's operators. */
extern const hg_rnn_form hg_rnn_form_plain, hg_rnn_form_gru, hg_rnn_form_lstm;

/* Outputs Y, Y_h and, where there is one, Y_c: behind the checks of what else there is. */
HG_MUST_CHECK holo_status hg_rnn_infer_outs(hg_infer *n, const hg_rnn_form *form, hg_dim hidden);
HG_MUST_CHECK holo_status hg_rnn_infer(hg_infer *n, const hg_rnn_form *form);
HG_MUST_CHECK holo_status hg_rnn_emit(hg_emit *e, const hg_rnn_form *form);
/* The rule of all three (op_rnn_gradient.c). */
HG_MUST_CHECK holo_status hg_rnn_gradient(hg_gradient *d, const hg_rnn_form *form);

typedef struct hg_rnn_function {
    int64_t kind; /* hg_rnn_activation */
    double alpha, beta;
} hg_rnn_function;
enum { HG_RNN_MAX_FUNCTION = 6 };

/* HG_RNN_FORWARD ...; the functions of all directions, *count of them. */
HG_MUST_CHECK holo_status hg_rnn_direction(const hg_infer *n, int64_t *out);
HG_MUST_CHECK holo_status hg_rnn_activations(const hg_infer *n, const hg_rnn_form *form,
                                             int64_t directions, hg_rnn_function *out,
                                             uint32_t *count);

#endif
