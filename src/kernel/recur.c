/* recur.c - recur.p16: the part of rnn, gru and lstm that goes from step to step.
 *
 *   in     X [T, N, D*G*H], W x and biases of all gates; R [D*P, H, 16], panels of 16 gate rows, P
 * = ceil(G*H / 16) for each direction; may be absent: bias of gru's h [D, H], lengths [N] int32,
 * initial h [D, N, H]; lstm only: initial c [D, N, H], peepholes [D, 3*H] out    as in rnn.c param
 * as in rnn.h, then the kind (hg_rnn_kind)
 *
 * With layout 1: X [N, T, D*G*H]. f32; computed in f64, rounded where stored; dot products add in
 * order. One unit is one sequence in one direction. */
#include "kernel/recur.h"

hg_rnn_shape hg_recur_shape_of(const hg_args *a)
{
    return hg_rnn_shape_with(a, (hg_rnn_kind)a->param[a->n_param - 1], a->in[HG_RECUR_R].dim[1]);
}

/* ---- check ---------------------------------------------------------------------------------- */

static holo_status recur_check_in(const hg_args *a, holo_error *e, uint32_t i, const char *what,
                                  int rank, const int64_t *dim)
{
    if (!hg_args_has(a, i)) return HOLO_OK;
    HG_TRY(hg_check_in_type(a, e, i, HG_TYPE_BIT(i == HG_RECUR_LENGTHS ? HOLO_I32 : HOLO_F32)));
    return hg_rnn_check_dims(&a->in[i], e, what, rank, dim);
}

static holo_status recur_check_ins(const hg_args *a, holo_error *e, const hg_rnn_shape *s)
{
    const int64_t width = s->gates * s->hidden;
    const int64_t r[] = {s->directions * hg_panels(width), s->hidden, HG_PANEL};
    const int64_t b[] = {s->directions, s->hidden}, p[] = {s->directions, 3 * s->hidden};
    const int64_t state[2][3] = {{s->directions, s->batch, s->hidden},
                                 {s->batch, s->directions, s->hidden}};
    HG_TRY(hg_rnn_check_dims(&a->in[HG_RECUR_R], e, "R", 3, r));
    HG_REQUIRE(e, s->input == s->directions * width, HOLO_E_SHAPE,
               "X has rows of %lld, expected %lld", (long long)s->input,
               (long long)(s->directions * width));
    HG_TRY(recur_check_in(a, e, HG_RECUR_B, "bias", 2, b));
    HG_TRY(recur_check_in(a, e, HG_RECUR_LENGTHS, "lengths", 1, &s->batch));
    HG_TRY(recur_check_in(a, e, HG_RECUR_H0, "initial h", 3, state[s->batch_first]));
    HG_TRY(recur_check_in(a, e, HG_RECUR_C0, "initial c", 3, state[s->batch_first]));
    return recur_check_in(a, e, HG_RECUR_P, "peepholes", 2, p);
}

holo_status hg_recur_check(const hg_args *a, holo_error *e)
{
    HG_REQUIRE(e, a->n_param > HG_RNN_PARAM_FUNCTIONS, HOLO_E_FORMAT,
               "%u parameters, expected at least %d", a->n_param, HG_RNN_PARAM_FUNCTIONS + 1);
    HG_TRY(hg_check_param(a, e, a->n_param - 1, "kind", HG_RNN_PLAIN, HG_RNN_LSTM));
    const bool is_lstm = a->param[a->n_param - 1] == HG_RNN_LSTM;
    const uint32_t n_in = is_lstm ? HG_RECUR_P + 1 : HG_RECUR_C0, n_out = is_lstm ? 3 : 2;
    HG_REQUIRE(e, a->n_in >= 2 && a->n_in <= n_in, HOLO_E_FORMAT, "%u inputs, expected 2 to %u",
               a->n_in, n_in);
    HG_REQUIRE(e, a->n_out >= 1 && a->n_out <= n_out, HOLO_E_FORMAT, "%u outputs, expected 1 to %u",
               a->n_out, n_out);
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_LAYOUT, "layout", 0, 1));
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_DIRECTION, "direction", HG_RNN_FORWARD,
                          HG_RNN_BIDIRECTIONAL));
    HG_TRY(hg_check_param(a, e, HG_RNN_PARAM_VARIANT, "variant", 0, 1));
    HG_TRY(hg_check_in_type(a, e, HG_RECUR_X, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->in[HG_RECUR_X], e, "X", 3, 3));
    HG_TRY(hg_check_in_type(a, e, HG_RECUR_R, HG_TYPE_BIT(HOLO_F32)));
    HG_TRY(hg_check_rank(&a->in[HG_RECUR_R], e, "R", 3, 3));
    const hg_rnn_shape s = hg_recur_shape_of(a);
    HG_TRY(hg_rnn_check_functions(a, e, &s, 1));
    HG_TRY(recur_check_ins(a, e, &s));
    return hg_rnn_check_outs(a, e, &s);
}

int64_t hg_recur_units(const hg_args *a)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    return s.hidden == 0 ? 0 : s.directions * s.batch;
}

void hg_recur_cost(const hg_args *a, hg_cost *cost)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    cost->flops = 2.0 * (double)s.steps * (double)s.batch * (double)s.input * (double)s.hidden;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* What one sequence needs. */
typedef struct recur_work {
    double *h, *c, *gate, *reset;
    const float *r, *bias, *peep; /* of the direction; bias and peep may be NULL */
    const int64_t *function;
    double clip;
} recur_work;

static double recur_apply(const recur_work *w, int which, double x)
{
    return hg_rnn_apply(w->function, which, w->clip, x);
}

/* R h of one gate row. */
static double recur_dot(const recur_work *w, const hg_rnn_shape *s, int64_t row, const double *h)
{
    const float *r = w->r + row / HG_PANEL * s->hidden * HG_PANEL + row % HG_PANEL;
    double sum = 0;
    for (int64_t k = 0; k < s->hidden; k++)
        sum += (double)r[k * HG_PANEL] * h[k];
    return sum;
}

static void recur_step_gru(const hg_args *a, const hg_rnn_shape *s, recur_work *w, const float *x)
{
    const int64_t n = s->hidden;
    const bool linear = a->param[HG_RNN_PARAM_VARIANT] != 0;
    for (int64_t i = 0; i < 2 * n; i++)
        w->gate[i] = recur_apply(w, 0, (double)x[i] + recur_dot(w, s, i, w->h));
    for (int64_t i = 0; i < n; i++)
        w->reset[i] = w->gate[n + i] * w->h[i];
    for (int64_t i = 0; i < n; i++) {
        const double sum = recur_dot(w, s, 2 * n + i, linear ? w->h : w->reset) +
                           (w->bias == NULL ? 0.0 : (double)w->bias[i]);
        const double next = (double)x[2 * n + i] + (linear ? w->gate[n + i] * sum : sum);
        w->gate[2 * n + i] = recur_apply(w, 1, next);
    }
    for (int64_t i = 0; i < n; i++)
        w->h[i] = (1.0 - w->gate[i]) * w->gate[2 * n + i] + w->gate[i] * w->h[i];
}

static double recur_peep(const recur_work *w, int64_t i)
{
    return w->peep == NULL ? 0.0 : (double)w->peep[i];
}

static void recur_step_lstm(const hg_args *a, const hg_rnn_shape *s, recur_work *w, const float *x)
{
    const int64_t n = s->hidden;
    const bool coupled = a->param[HG_RNN_PARAM_VARIANT] != 0;
    for (int64_t i = 0; i < 4 * n; i++)
        w->gate[i] = (double)x[i] + recur_dot(w, s, i, w->h);
    for (int64_t i = 0; i < n; i++) {
        const double in = recur_apply(w, 0, w->gate[i] + recur_peep(w, i) * w->c[i]);
        const double keep = w->gate[2 * n + i] + recur_peep(w, 2 * n + i) * w->c[i];
        const double forget = coupled ? 1.0 - in : recur_apply(w, 0, keep);
        w->c[i] = forget * w->c[i] + in * recur_apply(w, 1, w->gate[3 * n + i]);
        const double out = w->gate[n + i] + recur_peep(w, n + i) * w->c[i];
        w->h[i] = recur_apply(w, 0, out) * recur_apply(w, 2, w->c[i]);
    }
}

static void recur_step_plain(const hg_rnn_shape *s, recur_work *w, const float *x)
{
    for (int64_t i = 0; i < s->hidden; i++)
        w->gate[i] = recur_apply(w, 0, (double)x[i] + recur_dot(w, s, i, w->h));
    for (int64_t i = 0; i < s->hidden; i++)
        w->h[i] = w->gate[i];
}

static void recur_load(const hg_args *a, uint32_t i, int64_t at, double *to, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = hg_args_has(a, i) ? (double)((const float *)a->in[i].data)[at + k] : 0.0;
}

static void recur_store(const hg_args *a, uint32_t j, int64_t at, const double *from, int64_t n)
{
    if (j >= a->n_out || a->out[j].dtype == HOLO_NONE) return;
    for (int64_t k = 0; k < n; k++)
        ((float *)a->out[j].data)[at + k] = from == NULL ? 0.0f : (float)from[k];
}

static void recur_sequence(const hg_args *a, const hg_rnn_shape *s, recur_work *w, int64_t d,
                           int64_t sample)
{
    const int64_t length = hg_rnn_length(a, s, HG_RECUR_LENGTHS, sample);
    const int64_t state = hg_rnn_state_at(s, d, sample);
    recur_load(a, HG_RECUR_H0, state, w->h, s->hidden);
    recur_load(a, HG_RECUR_C0, state, w->c, s->hidden);
    for (int64_t i = 0; i < length; i++) {
        const int64_t t = hg_rnn_is_backward(a, d) ? length - 1 - i : i;
        const float *x = (const float *)a->in[HG_RECUR_X].data + hg_rnn_x_at(s, t, sample) +
                         d * s->gates * s->hidden;
        if (hg_args_stopped(a)) return;
        if (s->kind == HG_RNN_PLAIN) recur_step_plain(s, w, x);
        if (s->kind == HG_RNN_GRU) recur_step_gru(a, s, w, x);
        if (s->kind == HG_RNN_LSTM) recur_step_lstm(a, s, w, x);
        recur_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), w->h, s->hidden);
    }
    for (int64_t t = length; t < s->steps; t++)
        recur_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), NULL, s->hidden);
    recur_store(a, HG_RNN_Y_H, state, w->h, s->hidden);
    recur_store(a, HG_RNN_Y_C, state, w->c, s->hidden);
}

static size_t recur_scratch(const hg_args *a)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    return (size_t)((3 + s.gates) * s.hidden) * sizeof(double);
}

static void recur_run(const hg_args *a, hg_range r)
{
    const hg_rnn_shape s = hg_recur_shape_of(a);
    double *at = r.scratch;
    recur_work w = {.h = at,
                    .c = at + s.hidden,
                    .reset = at + 2 * s.hidden,
                    .gate = at + 3 * s.hidden,
                    .clip = hg_param_f64(a, HG_RNN_PARAM_CLIP)};
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t d = u / s.batch;
        w.r = hg_recur_weights(a, &s, d);
        w.function = hg_recur_function(a, &s, d);
        w.peep = hg_recur_peepholes(a, &s, d);
        w.bias = hg_args_has(a, HG_RECUR_B) ? (const float *)a->in[HG_RECUR_B].data + d * s.hidden
                                            : NULL;
        recur_sequence(a, &s, &w, d, u % s.batch);
    }
}

const hg_kernel hg_kernels_recur[] = {
    {.name = "recur.p16",
     .check = hg_recur_check,
     .units = hg_recur_units,
     .scratch = recur_scratch,
     .cost = hg_recur_cost,
     .run = recur_run},
    {0},
};
