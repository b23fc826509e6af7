/* recur.h - what every variant of "recur.p16" shares. */
#ifndef HG_KERNEL_RECUR_H
#define HG_KERNEL_RECUR_H

#include "kernel/pack.h"
#include "kernel/rnn.h"

/* Places of the operands; the outputs are those of the kernels in rnn.h. */
enum {
    HG_RECUR_X = HG_RNN_X, /* what the inputs add to the gates */
    HG_RECUR_R,
    HG_RECUR_B, /* of gru's h, added before the reset; may be absent, like all that follow */
    HG_RECUR_LENGTHS,
    HG_RECUR_H0,
    HG_RECUR_C0, /* lstm only, like all that follow */
    HG_RECUR_P   /* what gates take from the cell */
};

holo_status hg_recur_check(const hg_args *a, holo_error *e);
/* The rest: checked arguments only. `input` is the width of a row of X. */
hg_rnn_shape hg_recur_shape_of(const hg_args *a);
int64_t hg_recur_units(const hg_args *a);
void hg_recur_cost(const hg_args *a, hg_cost *cost);

/* R of a direction: panels of 16 gate rows, [panels, H, 16]. */
static inline const float *hg_recur_weights(const hg_args *a, const hg_rnn_shape *s,
                                            int64_t direction)
{
    return (const float *)a->in[HG_RECUR_R].data +
           direction * hg_panels(s->gates * s->hidden) * s->hidden * HG_PANEL;
}

/* Peepholes of a direction: H each for input, output and forget gate; NULL without. */
static inline const float *hg_recur_peepholes(const hg_args *a, const hg_rnn_shape *s,
                                              int64_t direction)
{
    if (!hg_args_has(a, HG_RECUR_P)) return NULL;
    return (const float *)a->in[HG_RECUR_P].data + direction * 3 * s->hidden;
}

/* Functions of a direction. */
static inline const int64_t *hg_recur_function(const hg_args *a, const hg_rnn_shape *s,
                                               int64_t direction)
{
    return a->param + HG_RNN_PARAM_FUNCTIONS +
           direction * hg_rnn_functions(s->kind) * HG_RNN_FUNCTION_PARAMS;
}

#endif
