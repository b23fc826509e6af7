/* rnn.c - rnn, gru and lstm: recurrent layers.
 *
 *   in     X [T, N, I], W [D, G*H, I], R [D, G*H, H];
 *          may be absent: B [D, 2*G*H], lengths [N] int32, initial h [D, N, H];
 *          lstm only: initial c [D, N, H], P [D, 3*H]
 *   out    may be absent: Y [T, D, N, H], last h [D, N, H]; lstm only: last c [D, N, H]
 *   param  see rnn.h
 *
 * With layout 1: X [N, T, I], Y [N, T, D, H], states [N, D, H]. G is 1, 3 (gates z r h) or 4 (i o f
 * c); P belongs to i, o, f. f32, f64, f16, bf16, all of one type; computed in f64, rounded where
 * stored. A dot product adds in 16 lanes that meet in a fixed tree. Beyond its length a sequence
 * gives 0 and keeps its state; a length outside [0, T] is an error. One unit is one sequence in one
 * direction. */
#include "kernel/rnn.h"

#include "isa/lane_io.h"
#include "isa/lane_math.h"
#include "kernel/number.h"

static const int rnn_gates[] = {1, 3, 4};

enum { RNN_LANES = 16 };

hg_rnn_shape hg_rnn_shape_with(const hg_args *a, hg_rnn_kind kind, int64_t hidden)
{
    const holo_tensor *x = &a->in[HG_RNN_X];
    const bool batch_first = a->param[HG_RNN_PARAM_LAYOUT] != 0;
    return (hg_rnn_shape){.kind = kind,
                          .steps = x->dim[batch_first ? 1 : 0],
                          .batch = x->dim[batch_first ? 0 : 1],
                          .input = x->dim[2],
                          .hidden = hidden,
                          .directions =
                              a->param[HG_RNN_PARAM_DIRECTION] == HG_RNN_BIDIRECTIONAL ? 2 : 1,
                          .gates = rnn_gates[kind],
                          .batch_first = batch_first};
}

hg_rnn_shape hg_rnn_shape_of(const hg_args *a, hg_rnn_kind kind)
{
    return hg_rnn_shape_with(a, kind, a->in[HG_RNN_R].dim[2]);
}

/* ---- check ---------------------------------------------------------------------------------- */

holo_status hg_rnn_check_dims(const holo_tensor *t, holo_error *e, const char *what, int rank,
                              const int64_t *dim)
{
    HG_TRY(hg_check_rank(t, e, what, rank, rank));
    for (int d = 0; d < rank; d++)
        HG_REQUIRE(e, t->dim[d] == dim[d], HOLO_E_SHAPE,
                   "dimension %d of %s is %lld, expected %lld", d, what, (long long)t->dim[d],
                   (long long)dim[d]);
    return HOLO_OK;
}

static holo_status rnn_check_in(const hg_args *a, holo_error *e, uint32_t i, const char *what,
                                int rank, const int64_t *dim)
{
    if (!hg_args_has(a, i) && i != HG_RNN_W) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPES_FLOAT));
    HG_TRY(hg_check_same_type(&a->in[i], &a->in[HG_RNN_X], e, what));
    return hg_rnn_check_dims(&a->in[i], e, what, rank, dim);
}

holo_status hg_rnn_check_outs(const hg_args *a, holo_error *e, const hg_rnn_shape *s)
{
    const int64_t y[2][4] = {{s->steps, s->directions, s->batch, s->hidden},
                             {s->batch, s->steps, s->directions, s->hidden}};
    const int64_t state[2][3] = {{s->directions, s->batch, s->hidden},
                                 {s->batch, s->directions, s->hidden}};
    for (uint32_t j = 0; j < a->n_out; j++) {
        if (a->out[j].dtype == HOLO_NONE) continue;
        HG_TRY(hg_check_out_type(a, e, j, HG_TYPES_FLOAT));
        HG_TRY(hg_check_same_type(&a->out[j], &a->in[HG_RNN_X], e, "output"));
        HG_TRY(hg_rnn_check_dims(&a->out[j], e, "output", j == HG_RNN_Y ? 4 : 3,
                                 j == HG_RNN_Y ? y[s->batch_first] : state[s->batch_first]));
    }
    return HOLO_OK;
}

holo_status hg_rnn_check_functions(const hg_args *a, holo_error *e, const hg_rnn_shape *s,
                                   uint32_t more)
{
    const uint32_t count = (uint32_t)(s->directions * hg_rnn_functions(s->kind));
    const uint32_t expected = HG_RNN_PARAM_FUNCTIONS + count * HG_RNN_FUNCTION_PARAMS + more;
    HG_REQUIRE(e, a->n_param == expected, HOLO_E_FORMAT, "%u parameters, expected %u", a->n_param,
               expected);
    for (uint32_t i = 0; i < count; i++)
        HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_FUNCTIONS + i * HG_RNN_FUNCTION_PARAMS,
                              "activation", HG_RNN_RELU, HG_RNN_SOFTPLUS));
    return HOLO_OK;
}

holo_status hg_rnn_check(const hg_args *a, holo_error *e, hg_rnn_kind kind)
{
    const uint32_t n_in = kind == HG_RNN_LSTM ? HG_RNN_P + 1 : HG_RNN_H0 + 1,
                   n_out = kind == HG_RNN_LSTM ? 3 : 2;
    HG_REQUIRE(e, a->n_in >= 3 && a->n_in <= n_in, HOLO_E_FORMAT, "%u inputs, expected 3 to %u",
               a->n_in, n_in);
    HG_REQUIRE(e, a->n_out >= 1 && a->n_out <= n_out, HOLO_E_FORMAT, "%u outputs, expected 1 to %u",
               a->n_out, n_out);
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_LAYOUT, "layout", 0, 1));
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_DIRECTION, "direction", HG_RNN_FORWARD,
                          HG_RNN_BIDIRECTIONAL));
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_VARIANT, "variant", 0, 1));
    HG_TRY(hg_check_in_type(a, e, HG_RNN_X, HG_TYPES_FLOAT));
    HG_TRY(hg_check_rank(&a->in[HG_RNN_X], e, "X", 3, 3));
    HG_TRY(hg_check_in_type(a, e, HG_RNN_R, HG_TYPES_FLOAT));
    const hg_rnn_shape s = hg_rnn_shape_of(a, kind);
    HG_TRY(hg_rnn_check_functions(a, e, &s, 0));
    const int64_t rows = s.gates * s.hidden, w[] = {s.directions, rows, s.input};
    const int64_t r[] = {s.directions, rows, s.hidden}, b[] = {s.directions, 2 * rows};
    const int64_t p[] = {s.directions, 3 * s.hidden};
    const int64_t state[2][3] = {{s.directions, s.batch, s.hidden},
                                 {s.batch, s.directions, s.hidden}};
    HG_TRY(rnn_check_in(a, e, HG_RNN_W, "W", 3, w));
    HG_TRY(hg_check_same_type(&a->in[HG_RNN_R], &a->in[HG_RNN_X], e, "R"));
    HG_TRY(hg_rnn_check_dims(&a->in[HG_RNN_R], e, "R", 3, r));
    HG_TRY(rnn_check_in(a, e, HG_RNN_B, "B", 2, b));
    HG_TRY(rnn_check_in(a, e, HG_RNN_H0, "initial h", 3, state[s.batch_first]));
    HG_TRY(rnn_check_in(a, e, HG_RNN_C0, "initial c", 3, state[s.batch_first]));
    HG_TRY(rnn_check_in(a, e, HG_RNN_P, "P", 2, p));
    if (hg_args_has(a, HG_RNN_LENGTHS)) {
        HG_TRY(hg_check_in_type(a, e, HG_RNN_LENGTHS, HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_rnn_check_dims(&a->in[HG_RNN_LENGTHS], e, "lengths", 1, &s.batch));
    }
    return hg_rnn_check_outs(a, e, &s);
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

static double rnn_activate(const int64_t *function, double x)
{
    double alpha, beta;
    memcpy(&alpha, function + 1, sizeof alpha);
    memcpy(&beta, function + 2, sizeof beta);
    switch ((hg_rnn_activation)function[0]) {
    case HG_RNN_RELU: return x < 0.0 ? 0.0 : x;
    case HG_RNN_TANH: return hg_tanh_f64(x);
    case HG_RNN_SIGMOID: return hg_sigmoid_f64(x);
    case HG_RNN_AFFINE: return alpha * x + beta;
    case HG_RNN_LEAKY_RELU: return x < 0.0 ? alpha * x : x;
    case HG_RNN_THRESHOLDED_RELU: return x < alpha ? 0.0 : x;
    case HG_RNN_SCALED_TANH: return alpha * hg_tanh_f64(beta * x);
    case HG_RNN_HARD_SIGMOID: x = alpha * x + beta; return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
    case HG_RNN_ELU: return x < 0.0 ? alpha * hg_expm1_f64(x) : x;
    case HG_RNN_SOFTSIGN: return x / (1.0 + hg_abs_f64(x));
    case HG_RNN_SOFTPLUS: return (x > 0.0 ? x : 0.0) + hg_log1p_f64(hg_exp_f64(-hg_abs_f64(x)));
    }
    return x;
}

#define RNN_DOT(T, suffix)                                                                         \
    static double rnn_dot_##suffix(const T *w, const double *x, int64_t n)                         \
    {                                                                                              \
        double lane[RNN_LANES] = {0};                                                              \
        int64_t k = 0;                                                                             \
        for (; k + RNN_LANES <= n; k += RNN_LANES)                                                 \
            for (int j = 0; j < RNN_LANES; j++)                                                    \
                lane[j] += (double)w[k + j] * x[k + j];                                            \
        for (int j = 0; k < n; j++, k++)                                                           \
            lane[j] += (double)w[k] * x[k];                                                        \
        for (int half = RNN_LANES / 2; half > 0; half /= 2)                                        \
            for (int j = 0; j < half; j++)                                                         \
                lane[j] += lane[j + half];                                                         \
        return lane[0];                                                                            \
    }
RNN_DOT(float, f32)
RNN_DOT(double, f64)
#undef RNN_DOT

/* Row `row` of a matrix of n columns, times x. `buffer` holds n floats. */
static double rnn_dot(const holo_tensor *t, int64_t row, const double *x, int64_t n, float *buffer)
{
    if (t->dtype == HOLO_F32) return rnn_dot_f32((const float *)t->data + row * n, x, n);
    if (t->dtype == HOLO_F64) return rnn_dot_f64((const double *)t->data + row * n, x, n);
    hg_lane_read(t->dtype, buffer, t->data, row * n, 1, n);
    return rnn_dot_f32(buffer, x, n);
}

/* What one sequence needs: current states, input, sums of the gates. */
typedef struct rnn_work {
    double *h, *c, *x, *gate, *extra;
    float *buffer;
    const int64_t *function; /* of this direction */
    double clip;
    int64_t direction;
} rnn_work;

double hg_rnn_apply(const int64_t *function, int which, double clip, double x)
{
    if (clip > 0.0) x = x < -clip ? -clip : x > clip ? clip : x;
    return rnn_activate(function + (int64_t)which * HG_RNN_FUNCTION_PARAMS, x);
}

static double rnn_apply(const rnn_work *w, int which, double x)
{
    return hg_rnn_apply(w->function, which, w->clip, x);
}

/* Bias of row `row`: of the input (side 0) or the recurrence (side 1). */
static double rnn_bias(const hg_args *a, const hg_rnn_shape *s, int64_t direction, int side,
                       int64_t row)
{
    const int64_t rows = s->gates * s->hidden;
    return hg_args_has(a, HG_RNN_B)
               ? hg_number_load(&a->in[HG_RNN_B], (direction * 2 + side) * rows + row)
               : 0.0;
}

static double rnn_from_input(const hg_args *a, const hg_rnn_shape *s, const rnn_work *w,
                             int64_t row)
{
    const int64_t at = w->direction * s->gates * s->hidden + row;
    return rnn_dot(&a->in[HG_RNN_W], at, w->x, s->input, w->buffer) +
           rnn_bias(a, s, w->direction, 0, row);
}

static double rnn_from_state(const hg_args *a, const hg_rnn_shape *s, const rnn_work *w,
                             int64_t row, const double *h)
{
    const int64_t at = w->direction * s->gates * s->hidden + row;
    return rnn_dot(&a->in[HG_RNN_R], at, h, s->hidden, w->buffer) +
           rnn_bias(a, s, w->direction, 1, row);
}

static void rnn_step_plain(const hg_args *a, const hg_rnn_shape *s, rnn_work *w)
{
    for (int64_t i = 0; i < s->hidden; i++)
        w->gate[i] = rnn_from_input(a, s, w, i) + rnn_from_state(a, s, w, i, w->h);
    for (int64_t i = 0; i < s->hidden; i++)
        w->h[i] = rnn_apply(w, 0, w->gate[i]);
}

static void rnn_step_gru(const hg_args *a, const hg_rnn_shape *s, rnn_work *w)
{
    const int64_t n = s->hidden;
    const bool linear = a->param[HG_RNN_PARAM_VARIANT] != 0;
    for (int64_t i = 0; i < 2 * n; i++)
        w->gate[i] = rnn_apply(w, 0, rnn_from_input(a, s, w, i) + rnn_from_state(a, s, w, i, w->h));
    const double *update = w->gate, *reset = w->gate + n;
    for (int64_t i = 0; i < n; i++)
        w->extra[i] = reset[i] * w->h[i];
    for (int64_t i = 0; i < n; i++) {
        const double r = linear ? reset[i] * rnn_from_state(a, s, w, 2 * n + i, w->h)
                                : rnn_from_state(a, s, w, 2 * n + i, w->extra);
        w->gate[2 * n + i] = rnn_apply(w, 1, rnn_from_input(a, s, w, 2 * n + i) + r);
    }
    for (int64_t i = 0; i < n; i++)
        w->h[i] = (1.0 - update[i]) * w->gate[2 * n + i] + update[i] * w->h[i];
}

/* Peephole weight k (i, o, f) of hidden element i. */
static double rnn_peephole(const hg_args *a, const hg_rnn_shape *s, const rnn_work *w, int k,
                           int64_t i)
{
    if (!hg_args_has(a, HG_RNN_P)) return 0.0;
    return hg_number_load(&a->in[HG_RNN_P], (w->direction * 3 + k) * s->hidden + i);
}

static void rnn_step_lstm(const hg_args *a, const hg_rnn_shape *s, rnn_work *w)
{
    const int64_t n = s->hidden;
    const bool coupled = a->param[HG_RNN_PARAM_VARIANT] != 0, has_p = hg_args_has(a, HG_RNN_P);
    for (int64_t i = 0; i < 4 * n; i++)
        w->gate[i] = rnn_from_input(a, s, w, i) + rnn_from_state(a, s, w, i, w->h);
    for (int64_t i = 0; i < n; i++) {
        double in = w->gate[i], out = w->gate[n + i], forget = w->gate[2 * n + i];
        if (has_p) {
            in += rnn_peephole(a, s, w, 0, i) * w->c[i];
            forget += rnn_peephole(a, s, w, 2, i) * w->c[i];
        }
        in = rnn_apply(w, 0, in);
        forget = coupled ? 1.0 - in : rnn_apply(w, 0, forget);
        w->c[i] = forget * w->c[i] + in * rnn_apply(w, 1, w->gate[3 * n + i]);
        if (has_p) out += rnn_peephole(a, s, w, 1, i) * w->c[i];
        w->h[i] = rnn_apply(w, 0, out) * rnn_apply(w, 2, w->c[i]);
    }
}

/* ---- sequences ------------------------------------------------------------------------------ */

static void rnn_load(const hg_args *a, uint32_t i, int64_t at, double *to, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = hg_args_has(a, i) ? hg_number_load(&a->in[i], at + k) : 0.0;
}

static void rnn_store(const hg_args *a, uint32_t j, int64_t at, const double *from, int64_t n)
{
    if (j >= a->n_out || a->out[j].dtype == HOLO_NONE) return;
    for (int64_t k = 0; k < n; k++)
        hg_number_store(&a->out[j], at + k, from == NULL ? 0.0 : from[k]);
}

int64_t hg_rnn_length(const hg_args *a, const hg_rnn_shape *s, uint32_t lengths, int64_t sample)
{
    if (!hg_args_has(a, lengths)) return s->steps;
    const int64_t length = ((const int32_t *)a->in[lengths].data)[sample];
    if (length >= 0 && length <= s->steps) return length;
    hg_fault_range(a->fault, "length of a sequence", sample, length, 0, s->steps);
    return 0;
}

static void rnn_sequence(const hg_args *a, const hg_rnn_shape *s, rnn_work *w, int64_t sample)
{
    const int64_t d = w->direction, length = hg_rnn_length(a, s, HG_RNN_LENGTHS, sample);
    const bool backward = hg_rnn_is_backward(a, d);
    const int64_t state = hg_rnn_state_at(s, d, sample);
    rnn_load(a, HG_RNN_H0, state, w->h, s->hidden);
    rnn_load(a, s->kind == HG_RNN_LSTM ? HG_RNN_C0 : a->n_in, state, w->c, s->hidden);
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = backward ? length - 1 - i : i;
        if (hg_args_stopped(a)) return;
        rnn_load(a, HG_RNN_X, hg_rnn_x_at(s, t, sample), w->x, s->input);
        if (s->kind == HG_RNN_PLAIN) rnn_step_plain(a, s, w);
        if (s->kind == HG_RNN_GRU) rnn_step_gru(a, s, w);
        if (s->kind == HG_RNN_LSTM) rnn_step_lstm(a, s, w);
        rnn_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), w->h, s->hidden);
    }
    for (int64_t t = length; t < s->steps; t++)
        rnn_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), NULL, s->hidden);
    rnn_store(a, HG_RNN_Y_H, state, w->h, s->hidden);
    rnn_store(a, HG_RNN_Y_C, state, w->c, s->hidden);
}

static size_t rnn_row_bytes(int64_t n)
{
    return hg_align_up((size_t)n * sizeof(double), HG_ALIGN);
}

static size_t rnn_scratch(const hg_args *a, hg_rnn_kind kind)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, kind);
    return 3 * rnn_row_bytes(s.hidden) + rnn_row_bytes(s.input) +
           rnn_row_bytes(s.gates * s.hidden) + rnn_row_bytes(hg_max(s.hidden, s.input));
}

int64_t hg_rnn_units(const hg_args *a)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, HG_RNN_PLAIN);
    return s.hidden == 0 ? 0 : s.directions * s.batch;
}

static void rnn_run(const hg_args *a, hg_range r, hg_rnn_kind kind)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, kind);
    char *at = r.scratch;
    const size_t row = rnn_row_bytes(s.hidden);
    rnn_work w = {.h = (double *)(void *)at,
                  .c = (double *)(void *)(at + row),
                  .extra = (double *)(void *)(at + 2 * row),
                  .clip = hg_param_f64(a, HG_RNN_PARAM_CLIP)};
    at += 3 * row;
    w.x = (double *)(void *)at;
    at += rnn_row_bytes(s.input);
    w.gate = (double *)(void *)at;
    at += rnn_row_bytes(s.gates * s.hidden);
    w.buffer = (float *)(void *)at;
    for (int64_t u = r.begin; u < r.end; u++) {
        w.direction = u / s.batch;
        w.function = a->param + HG_RNN_PARAM_FUNCTIONS +
                     w.direction * hg_rnn_functions(kind) * HG_RNN_FUNCTION_PARAMS;
        rnn_sequence(a, &s, &w, u % s.batch);
    }
}

static holo_status rnn_check(const hg_args *a, holo_error *e, hg_rnn_kind kind)
{
    return hg_rnn_check(a, e, kind);
}

void hg_rnn_cost(const hg_args *a, hg_cost *cost)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, HG_RNN_PLAIN);
    cost->flops =
        2.0 * (double)s.steps * (double)s.batch *
        ((double)holo_tensor_count(&a->in[HG_RNN_W]) + (double)holo_tensor_count(&a->in[HG_RNN_R]));
}

HG_RNN_KERNEL(rnn_check, rnn_scratch, rnn_run, gru, HG_RNN_GRU)
HG_RNN_KERNEL(rnn_check, rnn_scratch, rnn_run, lstm, HG_RNN_LSTM)
HG_RNN_KERNEL(rnn_check, rnn_scratch, rnn_run, plain, HG_RNN_PLAIN)

const hg_kernel hg_kernels_rnn[] = {
    {.name = "gru",
     .check = rnn_check_gru,
     .units = hg_rnn_units,
     .scratch = rnn_scratch_gru,
     .cost = hg_rnn_cost,
     .run = rnn_run_gru},
    {.name = "lstm",
     .check = rnn_check_lstm,
     .units = hg_rnn_units,
     .scratch = rnn_scratch_lstm,
     .cost = hg_rnn_cost,
     .run = rnn_run_lstm},
    {.name = "rnn",
     .check = rnn_check_plain,
     .units = hg_rnn_units,
     .scratch = rnn_scratch_plain,
     .cost = hg_rnn_cost,
     .run = rnn_run_plain},
    {0},
};
