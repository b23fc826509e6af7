/* rnn.c - gru and lstm in f32 with AVX2 and FMA.
 *
 * Weights are read where they lie: rows of W and R are dot products with an input or the state, and
 * the tiles of gemm.h for a transposed right side stream them at full width. What the inputs add to
 * the gates does not depend on the state: it is computed for a chunk of steps at once, so that W
 * is read once for each chunk; R has to be read at every step and sets the pace (4 H^2 floats).
 * Every other step goes through R backwards: what the step before read last is still in L2 then,
 * where a matrix a little larger than L2 would otherwise be evicted just before it is needed.
 *
 * A unit is one sequence in one direction. Functions other than Sigmoid, Tanh and Relu, and
 * peepholes, are left to the reference kernel. Error bound: dot products add in 8 lanes with one
 * rounding for each multiply-add, functions err by at most 4e-7. */
#include "kernel/rnn.h"

#include "backend/cpu/avx2/gemm.h"
#include "backend/cpu/avx2/rnn.h"

#include <math.h>

enum {
    RNN_CHUNK = 66,      /* steps at most; a multiple of the three rows of a dot tile */
    RNN_WEIGHT_ROWS = 8, /* that stay in L1 while the chunk passes over them */
    RNN_TURN_ROWS = 64   /* of R that are read in one direction */
};

static holo_status rnn_check(const hg_args *a, holo_error *e, hg_rnn_kind kind)
{
    HG_TRY(hg_rnn_check(a, e, kind));
    HG_REQUIRE(e, a->in[HG_RNN_X].dtype == HOLO_F32, HOLO_E_TYPE, "type is %s, expected float32",
               holo_dtype_text(a->in[HG_RNN_X].dtype));
    HG_REQUIRE(e, !hg_args_has(a, HG_RNN_P), HOLO_E_UNSUPPORTED, "there are peepholes");
    return hg_rnn_check_common(a, e, a->n_param);
}

/* What one sequence needs; rows of `gate` are steps of the chunk. */
typedef struct rnn_work {
    const float **rows; /* inputs of the chunk */
    float *gate, *sum, *h, *c;
    const float *w, *r, *bias; /* of the direction; bias may be NULL */
    const int64_t *function;
    float clip;
    bool upward; /* the step reads R from its last row */
} rnn_work;

static size_t rnn_pointer_bytes(void)
{
    return hg_align_up(RNN_CHUNK * sizeof(float *), HG_ALIGN);
}

static size_t rnn_row_bytes(int64_t n)
{
    return hg_align_up((size_t)n * sizeof(float), HG_ALIGN);
}

static size_t rnn_scratch(const hg_args *a, hg_rnn_kind kind)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, kind);
    const int64_t gates = s.gates * s.hidden;
    return rnn_pointer_bytes() + rnn_row_bytes(RNN_CHUNK * gates) + rnn_row_bytes(gates) +
           2 * rnn_row_bytes(s.hidden);
}

HG_INLINE void rnn_activate_by(const int64_t function, float clip, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += 8) {
        float rest[8] = {0}, *at = n - i >= 8 ? x + i : rest;
        if (at == rest) memcpy(rest, x + i, (size_t)(n - i) * sizeof *x);
        _mm256_storeu_ps(at, hg_rnn_function8(function, clip, _mm256_loadu_ps(at)));
        if (at == rest) memcpy(x + i, rest, (size_t)(n - i) * sizeof *x);
    }
}

static void rnn_activate(const rnn_work *w, int which, float *x, int64_t n)
{
    const float clip = w->clip > 0 ? w->clip : INFINITY;
    const int64_t function = w->function[which * HG_RNN_FUNCTION_PARAMS];
    if (function == HG_RNN_SIGMOID)
        rnn_activate_by(HG_RNN_SIGMOID, clip, x, n);
    else if (function == HG_RNN_TANH)
        rnn_activate_by(HG_RNN_TANH, clip, x, n);
    else
        rnn_activate_by(HG_RNN_RELU, clip, x, n);
}

static void rnn_add(float *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* to = R[first..first + n) . h */
static void rnn_recur(const rnn_work *w, const hg_rnn_shape *s, const float *h, int64_t first,
                      int64_t n, float *to)
{
    const int64_t blocks = hg_ceil_div(n, RNN_TURN_ROWS);
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t at = (w->upward ? blocks - 1 - i : i) * RNN_TURN_ROWS;
        const int64_t rows = hg_min(RNN_TURN_ROWS, n - at);
        hg_gemm_dot_avx2(&h, 1, w->r + (first + at) * s->hidden, s->hidden, s->hidden, rows, 1,
                         to + at, rows);
    }
}

/* gate: i o f c */
static void rnn_step_lstm(const hg_args *a, const hg_rnn_shape *s, const rnn_work *w, float *gate)
{
    const int64_t n = s->hidden;
    const bool coupled = a->param[HG_RNN_PARAM_VARIANT] != 0;
    rnn_recur(w, s, w->h, 0, 4 * n, w->sum);
    rnn_add(gate, w->sum, 4 * n);
    rnn_activate(w, 0, gate, 3 * n);
    rnn_activate(w, 1, gate + 3 * n, n);
    const float *in = gate, *out = gate + n, *forget = gate + 2 * n, *cell = gate + 3 * n;
    float *h = w->h, *c = w->c;
    for (int64_t i = 0; i < n; i++) {
        c[i] = (coupled ? 1 - in[i] : forget[i]) * c[i] + in[i] * cell[i];
        h[i] = c[i];
    }
    rnn_activate(w, 2, h, n);
    for (int64_t i = 0; i < n; i++)
        h[i] *= out[i];
}

/* gate: z r h; the recurrent bias of h is added before the reset when that comes last */
static void rnn_step_gru(const hg_args *a, const hg_rnn_shape *s, const rnn_work *w, float *gate)
{
    const int64_t n = s->hidden;
    const bool linear = a->param[HG_RNN_PARAM_VARIANT] != 0;
    float *update = gate, *reset = gate + n, *next = gate + 2 * n, *h = w->h, *sum = w->sum;
    rnn_recur(w, s, h, 0, linear ? 3 * n : 2 * n, sum);
    rnn_add(gate, sum, 2 * n);
    rnn_activate(w, 0, gate, 2 * n);
    const float *bias = w->bias == NULL ? NULL : w->bias + 5 * n;
    if (linear) {
        for (int64_t i = 0; i < n; i++)
            next[i] += reset[i] * (sum[2 * n + i] + (bias == NULL ? 0 : bias[i]));
    } else {
        for (int64_t i = 0; i < n; i++)
            reset[i] *= h[i];
        rnn_recur(w, s, reset, 2 * n, n, sum);
        for (int64_t i = 0; i < n; i++)
            next[i] += sum[i] + (bias == NULL ? 0 : bias[i]);
    }
    rnn_activate(w, 1, next, n);
    for (int64_t i = 0; i < n; i++)
        h[i] = (1 - update[i]) * next[i] + update[i] * h[i];
}

/* W x and the biases, but the recurrent one of gru's h, for `steps` inputs. */
static void rnn_from_inputs(const hg_rnn_shape *s, const rnn_work *w, int64_t steps)
{
    const int64_t gates = s->gates * s->hidden;
    for (int64_t row = 0; row < gates; row += RNN_WEIGHT_ROWS)
        hg_gemm_dot_avx2(w->rows, steps, w->w + row * s->input, s->input, s->input,
                         hg_min(RNN_WEIGHT_ROWS, gates - row), 1, w->gate + row, gates);
    if (w->bias == NULL) return;
    const int64_t both = s->kind == HG_RNN_GRU ? 2 * s->hidden : gates;
    for (int64_t i = 0; i < steps; i++) {
        rnn_add(w->gate + i * gates, w->bias, gates);
        rnn_add(w->gate + i * gates, w->bias + gates, both);
    }
}

/* Steps of a chunk: the chunks of a sequence are about equal, so that none reads W for little. */
static int64_t rnn_chunk(int64_t length)
{
    const int64_t chunk = hg_ceil_div(length, hg_max(1, hg_ceil_div(length, RNN_CHUNK)));
    return hg_max(3, hg_ceil_div(chunk, 3) * 3);
}

static void rnn_sequence(const hg_args *a, const hg_rnn_shape *s, rnn_work *w, int64_t d,
                         int64_t sample)
{
    const int64_t n = s->hidden, length = hg_rnn_length(a, s, HG_RNN_LENGTHS, sample),
                  chunk = rnn_chunk(length);
    const int64_t state = hg_rnn_state_at(s, d, sample);
    const bool backward = hg_rnn_is_backward(a, d);
    hg_rnn_load(a, HG_RNN_H0, state, w->h, n);
    hg_rnn_load(a, s->kind == HG_RNN_LSTM ? HG_RNN_C0 : a->n_in, state, w->c, n);
    for (int64_t first = 0; first < length; first += chunk) {
        const int64_t steps = hg_min(chunk, length - first);
        if (hg_args_stopped(a)) return;
        for (int64_t i = 0; i < steps; i++) {
            const int64_t t = backward ? length - 1 - first - i : first + i;
            w->rows[i] = (const float *)a->in[HG_RNN_X].data + hg_rnn_x_at(s, t, sample);
        }
        rnn_from_inputs(s, w, steps);
        for (int64_t i = 0; i < steps; i++) {
            const int64_t t = backward ? length - 1 - first - i : first + i;
            float *gate = w->gate + i * s->gates * n;
            w->upward = (first + i) % 2 != 0;
            if (s->kind == HG_RNN_LSTM)
                rnn_step_lstm(a, s, w, gate);
            else
                rnn_step_gru(a, s, w, gate);
            hg_rnn_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), w->h, n);
        }
    }
    for (int64_t t = length; t < s->steps; t++)
        hg_rnn_store(a, HG_RNN_Y, hg_rnn_y_at(s, t, d, sample), NULL, n);
    hg_rnn_store(a, HG_RNN_Y_H, state, w->h, n);
    hg_rnn_store(a, HG_RNN_Y_C, state, w->c, n);
}

static void rnn_run(const hg_args *a, hg_range r, hg_rnn_kind kind)
{
    const hg_rnn_shape s = hg_rnn_shape_of(a, kind);
    const int64_t gates = s.gates * s.hidden;
    char *at = r.scratch;
    rnn_work w = {.rows = (const float **)(void *)at,
                  .clip = (float)hg_param_f64(a, HG_RNN_PARAM_CLIP)};
    w.gate = (float *)(void *)(at += rnn_pointer_bytes());
    w.sum = (float *)(void *)(at += rnn_row_bytes(RNN_CHUNK * gates));
    w.h = (float *)(void *)(at += rnn_row_bytes(gates));
    w.c = (float *)(void *)(at + rnn_row_bytes(s.hidden));
    for (int64_t u = r.begin; u < r.end; u++) {
        const int64_t d = u / s.batch;
        w.w = (const float *)a->in[HG_RNN_W].data + d * gates * s.input;
        w.r = (const float *)a->in[HG_RNN_R].data + d * gates * s.hidden;
        w.bias =
            hg_args_has(a, HG_RNN_B) ? (const float *)a->in[HG_RNN_B].data + d * 2 * gates : NULL;
        w.function =
            a->param + HG_RNN_PARAM_FUNCTIONS + d * hg_rnn_functions(kind) * HG_RNN_FUNCTION_PARAMS;
        rnn_sequence(a, &s, &w, d, u % s.batch);
    }
}

HG_RNN_KERNEL(rnn_check, rnn_scratch, rnn_run, gru, HG_RNN_GRU)
HG_RNN_KERNEL(rnn_check, rnn_scratch, rnn_run, lstm, HG_RNN_LSTM)

const hg_kernel hg_kernels_rnn_avx2[] = {
    {.name = "gru",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = rnn_check_gru,
     .units = hg_rnn_units,
     .scratch = rnn_scratch_gru,
     .cost = hg_rnn_cost,
     .run = rnn_run_gru},
    {.name = "lstm",
     .flags = HG_KERNEL_FAST,
     .cpu = HG_CPU_AVX2,
     .check = rnn_check_lstm,
     .units = hg_rnn_units,
     .scratch = rnn_scratch_lstm,
     .cost = hg_rnn_cost,
     .run = rnn_run_lstm},
    {0},
};
