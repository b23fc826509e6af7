/* rnn.h - parameters of the kernels "rnn", "gru", "lstm" and, in panels, "recur.p16". */
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

typedef enum hg_rnn_kind { HG_RNN_PLAIN, HG_RNN_GRU, HG_RNN_LSTM } hg_rnn_kind;

/* Places of the operands. */
enum { HG_RNN_X, HG_RNN_W, HG_RNN_R, HG_RNN_B, HG_RNN_LENGTHS, HG_RNN_H0, HG_RNN_C0, HG_RNN_P };
enum { HG_RNN_Y, HG_RNN_Y_H, HG_RNN_Y_C };

typedef struct hg_rnn_shape {
    hg_rnn_kind kind;
    int64_t steps, batch, input, hidden, directions, gates;
    bool batch_first;
} hg_rnn_shape;

holo_status hg_rnn_check(const hg_args *a, holo_error *e, hg_rnn_kind kind);
/* The rest: checked arguments only. One unit is one sequence in one direction. */
hg_rnn_shape hg_rnn_shape_of(const hg_args *a, hg_rnn_kind kind);
/* The same, for kernels that know the width of a state otherwise. */
hg_rnn_shape hg_rnn_shape_with(const hg_args *a, hg_rnn_kind kind, int64_t hidden);
int64_t hg_rnn_units(const hg_args *a);
void hg_rnn_cost(const hg_args *a, hg_cost *cost);
/* Steps of a sequence, of which in[lengths] may know; one that is not possible is a fault and
 * counts as 0. */
int64_t hg_rnn_length(const hg_args *a, const hg_rnn_shape *s, uint32_t lengths, int64_t sample);
/* Function `which` of a direction, behind the clip; exact. */
double hg_rnn_apply(const int64_t *function, int which, double clip, double x);

/* Parts of a check. Dims of an operand; the functions, `more` parameters behind them; outputs. */
holo_status hg_rnn_check_dims(const holo_tensor *t, holo_error *e, const char *what, int rank,
                              const int64_t *dim);
holo_status hg_rnn_check_functions(const hg_args *a, holo_error *e, const hg_rnn_shape *s,
                                   uint32_t more);
holo_status hg_rnn_check_outs(const hg_args *a, holo_error *e, const hg_rnn_shape *s);

/* Functions of one direction. */
static inline int64_t hg_rnn_functions(hg_rnn_kind kind)
{
    return kind == HG_RNN_LSTM ? 3 : kind == HG_RNN_GRU ? 2 : 1;
}

/* Whether a direction begins at the end. */
static inline bool hg_rnn_is_backward(const hg_args *a, int64_t direction)
{
    return direction == 1 || a->param[HG_RNN_PARAM_DIRECTION] == HG_RNN_REVERSE;
}

/* First element of a state, of a step's result, of a step's input. */
static inline int64_t hg_rnn_state_at(const hg_rnn_shape *s, int64_t direction, int64_t sample)
{
    return (s->batch_first ? sample * s->directions + direction : direction * s->batch + sample) *
           s->hidden;
}

static inline int64_t hg_rnn_y_at(const hg_rnn_shape *s, int64_t step, int64_t direction,
                                  int64_t sample)
{
    const int64_t row = s->batch_first ? (sample * s->steps + step) * s->directions + direction
                                       : (step * s->directions + direction) * s->batch + sample;
    return row * s->hidden;
}

static inline int64_t hg_rnn_x_at(const hg_rnn_shape *s, int64_t step, int64_t sample)
{
    return (s->batch_first ? sample * s->steps + step : step * s->batch + sample) * s->input;
}

/* The functions of kernel `stem`: those of the file, given its kind. */
#define HG_RNN_KERNEL(check, scratch, run, stem, kind)                                             \
    static holo_status check##_##stem(const hg_args *a, holo_error *e)                             \
    {                                                                                              \
        return check(a, e, kind);                                                                  \
    }                                                                                              \
    static size_t scratch##_##stem(const hg_args *a)                                               \
    {                                                                                              \
        return scratch(a, kind);                                                                   \
    }                                                                                              \
    static void run##_##stem(const hg_args *a, hg_range r)                                         \
    {                                                                                              \
        run(a, r, kind);                                                                           \
    }

#endif
