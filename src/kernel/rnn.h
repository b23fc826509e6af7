/* rnn.h - parameters of the kernels "rnn", "gru" and "lstm". */
#ifndef HG_KERNEL_RNN_H
#define HG_KERNEL_RNN_H

#include "isa/kernel.h"

typedef enum hg_rnn_activation {
    HG_RNN_RELU = 0,
    HG_RNN_TANH = 1,
    HG_RNN_SIGMOID = 2,
    HG_RNN_AFFINE = 3,           /* alpha x + beta */
    HG_RNN_LEAKY_RELU = 4,       /* alpha x below 0 */
    HG_RNN_THRESHOLDED_RELU = 5, /* 0 below alpha */
    HG_RNN_SCALED_TANH = 6,      /* alpha tanh(beta x) */
    HG_RNN_HARD_SIGMOID = 7,     /* alpha x + beta between 0 and 1 */
    HG_RNN_ELU = 8,              /* alpha (e^x - 1) below 0 */
    HG_RNN_SOFTSIGN = 9,
    HG_RNN_SOFTPLUS = 10
} hg_rnn_activation;

enum { HG_RNN_FORWARD = 0, HG_RNN_REVERSE = 1, HG_RNN_BIDIRECTIONAL = 2 };

/* Places of the parameters; then for each direction and function: kind, alpha (f64), beta (f64). */
enum {
    HG_RNN_PARAM_LAYOUT, /* 1: batch before sequence */
    HG_RNN_PARAM_DIRECTION,
    HG_RNN_PARAM_CLIP,    /* f64; 0: none */
    HG_RNN_PARAM_VARIANT, /* gru: linear_before_reset; lstm: input_forget */
    HG_RNN_PARAM_FUNCTIONS
};
enum { HG_RNN_FUNCTION_PARAMS = 3 };

#endif
