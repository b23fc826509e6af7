/* rnn.c - rnn, gru and lstm against the standard's equations, step by step in f64. */
#include "kernel/rnn.h"

#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_rnn[];
#if defined(TUNED)
extern const hg_kernel TUNED(rnn)[];
#endif

enum { GRU, LSTM, RNN }; /* places in the table */
enum { STEPS = 4, BATCH = 3, INPUT = 5, HIDDEN = 19 };

static const int64_t rnn_gates[] = {3, 4, 1};
static const int rnn_functions[] = {2, 3, 1};

typedef struct rnn_case {
    int kernel;
    int64_t layout, direction, variant;
    double clip;
    bool bias, lengths, h0, c0, p;
    int64_t function[3];
} rnn_case;

static const rnn_case rnn_cases[] = {
    {RNN, 0, 0, 0, 0, false, false, false, false, false, {HG_RNN_TANH}},
    {RNN, 1, 1, 0, 0.5, true, true, true, false, false, {HG_RNN_RELU}},
    {RNN, 0, 2, 0, 0, true, true, true, false, false, {HG_RNN_SOFTSIGN}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_AFFINE}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_LEAKY_RELU}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_THRESHOLDED_RELU}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_SCALED_TANH}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_HARD_SIGMOID}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_ELU}},
    {RNN, 0, 0, 0, 0, true, false, false, false, false, {HG_RNN_SOFTPLUS}},
    {GRU, 0, 0, 0, 0, false, false, false, false, false, {HG_RNN_SIGMOID, HG_RNN_TANH}},
    {GRU, 1, 2, 1, 0, true, true, true, false, false, {HG_RNN_SIGMOID, HG_RNN_TANH}},
    {GRU, 0, 1, 0, 1, true, false, true, false, false, {HG_RNN_HARD_SIGMOID, HG_RNN_RELU}},
    {LSTM,
     0,
     0,
     0,
     0,
     false,
     false,
     false,
     false,
     false,
     {HG_RNN_SIGMOID, HG_RNN_TANH, HG_RNN_TANH}},
    {LSTM, 0, 2, 0, 0, true, true, true, true, true, {HG_RNN_SIGMOID, HG_RNN_TANH, HG_RNN_TANH}},
    {LSTM,
     1,
     1,
     1,
     0.7,
     true,
     true,
     true,
     true,
     true,
     {HG_RNN_SIGMOID, HG_RNN_SOFTSIGN, HG_RNN_TANH}},
};

static void rnn_optional(move_call *c, bool present, holo_dtype dtype, int rank, const int64_t *dim,
                         uint64_t seed)
{
    if (present)
        value_in(c, dtype, rank, dim, seed);
    else
        value_absent(c);
}

static void rnn_make(move_call *c, const rnn_case *p, holo_dtype dtype)
{
    const int64_t dirs = p->direction == HG_RNN_BIDIRECTIONAL ? 2 : 1,
                  rows = rnn_gates[p->kernel] * HIDDEN;
    const int64_t state[2][3] = {{dirs, BATCH, HIDDEN}, {BATCH, dirs, HIDDEN}};
    value_in(c, dtype, 3,
             p->layout == 0 ? MOVE_DIMS(STEPS, BATCH, INPUT) : MOVE_DIMS(BATCH, STEPS, INPUT), 1);
    value_in(c, dtype, 3, MOVE_DIMS(dirs, rows, INPUT), 2);
    value_in(c, dtype, 3, MOVE_DIMS(dirs, rows, HIDDEN), 3);
    for (int64_t i = 0; i < holo_tensor_count(&c->in[2]); i++) /* keeps unbounded layers small */
        value_set(&c->in[2], i, value_get(&c->in[2], i) * 0.1);
    rnn_optional(c, p->bias, dtype, 2, MOVE_DIMS(dirs, 2 * rows), 4);
    rnn_optional(c, p->lengths, HOLO_I32, 1, MOVE_DIMS(BATCH), 5);
    if (p->lengths) memcpy(c->in[4].data, (const int32_t[]){4, 0, 2}, 12);
    rnn_optional(c, p->h0, dtype, 3, state[p->layout], 6);
    if (p->kernel == LSTM) {
        rnn_optional(c, p->c0, dtype, 3, state[p->layout], 7);
        rnn_optional(c, p->p, dtype, 2, MOVE_DIMS(dirs, 3 * HIDDEN), 8);
    }
    move_out(c, dtype, 4,
             p->layout == 0 ? MOVE_DIMS(STEPS, dirs, BATCH, HIDDEN)
                            : MOVE_DIMS(BATCH, STEPS, dirs, HIDDEN));
    move_out(c, dtype, 3, state[p->layout]);
    if (p->kernel == LSTM) move_out(c, dtype, 3, state[p->layout]);
    move_param(c, p->layout);
    move_param(c, p->direction);
    value_param_f64(c, p->clip);
    move_param(c, p->variant);
    for (int64_t k = 0; k < dirs * rnn_functions[p->kernel]; k++) {
        move_param(c, p->function[k % rnn_functions[p->kernel]]);
        value_param_f64(c, 0.3);
        value_param_f64(c, 0.6);
    }
}

static double rnn_apply(const rnn_case *p, int which, double x)
{
    const double a = 0.3, b = 0.6;
    if (p->clip > 0) x = fmax(-p->clip, fmin(p->clip, x));
    switch ((int)p->function[which]) {
    case HG_RNN_RELU: return fmax(x, 0);
    case HG_RNN_TANH: return tanh(x);
    case HG_RNN_SIGMOID: return 1 / (1 + exp(-x));
    case HG_RNN_AFFINE: return a * x + b;
    case HG_RNN_LEAKY_RELU: return x < 0 ? a * x : x;
    case HG_RNN_THRESHOLDED_RELU: return x < a ? 0 : x;
    case HG_RNN_SCALED_TANH: return a * tanh(b * x);
    case HG_RNN_HARD_SIGMOID: return fmax(0, fmin(1, a * x + b));
    case HG_RNN_ELU: return x < 0 ? a * (exp(x) - 1) : x;
    case HG_RNN_SOFTSIGN: return x / (1 + fabs(x));
    default: return log(1 + exp(x));
    }
}

typedef struct rnn_state {
    double h[HIDDEN], c[HIDDEN], x[INPUT];
} rnn_state;

/* Row `row` of W x, with its bias. */
static double rnn_wx(const move_call *c, const rnn_case *p, int64_t d, int64_t row,
                     const rnn_state *s)
{
    const int64_t rows = rnn_gates[p->kernel] * HIDDEN;
    double sum = p->bias ? value_get(&c->in[3], d * 2 * rows + row) : 0;
    for (int64_t k = 0; k < INPUT; k++)
        sum += value_get(&c->in[1], (d * rows + row) * INPUT + k) * s->x[k];
    return sum;
}

static double rnn_rh(const move_call *c, const rnn_case *p, int64_t d, int64_t row, const double *h)
{
    const int64_t rows = rnn_gates[p->kernel] * HIDDEN;
    double sum = p->bias ? value_get(&c->in[3], (d * 2 + 1) * rows + row) : 0;
    for (int64_t k = 0; k < HIDDEN; k++)
        sum += value_get(&c->in[2], (d * rows + row) * HIDDEN + k) * h[k];
    return sum;
}

static void rnn_step(const move_call *c, const rnn_case *p, int64_t d, rnn_state *s)
{
    const rnn_state old = *s;
    double gate[4][HIDDEN], gated[HIDDEN];
    for (int64_t g = 0; g < rnn_gates[p->kernel]; g++)
        for (int64_t i = 0; i < HIDDEN; i++)
            gate[g][i] =
                rnn_wx(c, p, d, g * HIDDEN + i, &old) + rnn_rh(c, p, d, g * HIDDEN + i, old.h);
    if (p->kernel == RNN)
        for (int64_t i = 0; i < HIDDEN; i++)
            s->h[i] = rnn_apply(p, 0, gate[0][i]);
    for (int64_t i = 0; i < HIDDEN && p->kernel == GRU; i++)
        gated[i] = rnn_apply(p, 0, gate[1][i]) * old.h[i];
    for (int64_t i = 0; i < HIDDEN && p->kernel == GRU; i++) {
        const double z = rnn_apply(p, 0, gate[0][i]), r = rnn_apply(p, 0, gate[1][i]);
        const int64_t row = 2 * HIDDEN + i;
        const double rh =
            p->variant ? r * rnn_rh(c, p, d, row, old.h) : rnn_rh(c, p, d, row, gated);
        s->h[i] = (1 - z) * rnn_apply(p, 1, rnn_wx(c, p, d, row, &old) + rh) + z * old.h[i];
    }
    for (int64_t i = 0; i < HIDDEN && p->kernel == LSTM; i++) {
        double peep[3] = {0};
        for (int64_t k = 0; k < 3 && p->p; k++)
            peep[k] = value_get(&c->in[7], (d * 3 + k) * HIDDEN + i);
        const double in = rnn_apply(p, 0, gate[0][i] + peep[0] * old.c[i]);
        const double forget =
            p->variant ? 1 - in : rnn_apply(p, 0, gate[2][i] + peep[2] * old.c[i]);
        s->c[i] = forget * old.c[i] + in * rnn_apply(p, 1, gate[3][i]);
        s->h[i] = rnn_apply(p, 0, gate[1][i] + peep[1] * s->c[i]) * rnn_apply(p, 2, s->c[i]);
    }
}

static bool rnn_check_row(const holo_tensor *t, int64_t at, const double *expected)
{
    for (int64_t i = 0; i < HIDDEN; i++)
        if (!CHECK_NEAR(value_get(t, at + i), expected == NULL ? 0 : expected[i],
                        8 * value_tolerance(t->dtype) *
                            (expected == NULL ? 1 : 1 + fabs(expected[i]))))
            return false;
    return true;
}

static bool rnn_sequence(const move_call *c, const rnn_case *p, int64_t d, int64_t b)
{
    const int64_t dirs = p->direction == HG_RNN_BIDIRECTIONAL ? 2 : 1;
    const int64_t state = (p->layout == 0 ? d * BATCH + b : b * dirs + d) * HIDDEN;
    const int64_t length = p->lengths ? ((const int32_t *)c->in[4].data)[b] : STEPS;
    rnn_state s = {{0}, {0}, {0}};
    for (int64_t i = 0; i < HIDDEN; i++) {
        s.h[i] = p->h0 ? value_get(&c->in[5], state + i) : 0;
        s.c[i] = p->c0 ? value_get(&c->in[6], state + i) : 0;
    }
    for (int64_t k = 0; k < STEPS; k++) {
        const bool back = d == 1 || p->direction == HG_RNN_REVERSE;
        const int64_t t = k >= length ? k : back ? length - 1 - k : k;
        const int64_t row =
            p->layout == 0 ? (t * dirs + d) * BATCH + b : (b * STEPS + t) * dirs + d;
        for (int64_t i = 0; i < INPUT; i++)
            s.x[i] =
                value_get(&c->in[0], (p->layout == 0 ? t * BATCH + b : b * STEPS + t) * INPUT + i);
        if (k < length) rnn_step(c, p, d, &s);
        if (!rnn_check_row(&c->out[0], row * HIDDEN, k < length ? s.h : NULL)) return false;
    }
    if (!rnn_check_row(&c->out[1], state, s.h)) return false;
    return p->kernel != LSTM || rnn_check_row(&c->out[2], state, s.c);
}

static void rnn_values(void)
{
    static const holo_dtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16};
    for (size_t k = 0; k < HG_COUNT(rnn_cases) * HG_COUNT(types); k++) {
        const rnn_case *p = &rnn_cases[k / HG_COUNT(types)];
        move_call c = {0};
        rnn_make(&c, p, types[k % HG_COUNT(types)]);
        if (move_run(&hg_kernels_rnn[p->kernel], &c))
            for (int64_t i = 0; i < (p->direction == HG_RNN_BIDIRECTIONAL ? 2 : 1) * BATCH; i++)
                if (!rnn_sequence(&c, p, i / BATCH, i % BATCH)) break;
        move_free(&c);
    }
}

#if defined(TUNED)
/* The tuned kernels on what they take: no peepholes, common functions, f32. */
static void rnn_tuned(void)
{
    int taken = 0;
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (size_t k = 0; k < HG_COUNT(rnn_cases); k++) {
        rnn_case p = rnn_cases[k];
        if (p.kernel == RNN) continue;
        for (int plain = 0; plain < 2; plain++) {
            move_call c = {0};
            p.p = p.p && plain == 0;
            rnn_make(&c, &p, HOLO_F32);
            const hg_kernel *kernel = &TUNED(rnn)[p.kernel];
            holo_error error;
            move_connect(&c);
            if (kernel->check(&c.args, &error) == HOLO_OK && move_run(kernel, &c)) {
                taken++;
                for (int64_t i = 0; i < (p.direction == HG_RNN_BIDIRECTIONAL ? 2 : 1) * BATCH; i++)
                    if (!rnn_sequence(&c, &p, i / BATCH, i % BATCH)) break;
            }
            move_free(&c);
        }
    }
    CHECK_EQ_INT(taken, 7);
    move_call c = {0};
    holo_error error;
    rnn_make(&c, &rnn_cases[13], HOLO_F64);
    move_connect(&c);
    CHECK_EQ_INT(TUNED(rnn)[LSTM].check(&c.args, &error), HOLO_E_TYPE);
    move_free(&c);
}
#endif

/* Outputs that nobody wants, and inputs behind the last that is there. */
static void rnn_absent(void)
{
    for (int missing = 0; missing < 3; missing++) {
        move_call c = {0};
        rnn_make(&c, &rnn_cases[13], HOLO_F32);
        free(c.out[missing].data);
        c.out[missing] = (holo_tensor){0};
        c.args.n_in = 3;
        CHECK(move_run(&hg_kernels_rnn[LSTM], &c));
        move_free(&c);
    }
}

static void rnn_lengths_fault(void)
{
    static const int32_t wrong[] = {-1, STEPS + 1, INT32_MAX};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        rnn_make(&c, &rnn_cases[1], HOLO_F32);
        ((int32_t *)c.in[4].data)[2] = wrong[k];
        CHECK(move_run(&hg_kernels_rnn[RNN], &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 2);
        CHECK_EQ_INT(c.fault.high, STEPS);
        move_free(&c);
    }
}

static void rnn_make_lstm(move_call *c)
{
    rnn_make(c, &rnn_cases[14], HOLO_F32);
}

static void rnn_make_gru(move_call *c)
{
    rnn_make(c, &rnn_cases[11], HOLO_F32);
}

static void rnn_refuses(void)
{
    static const move_bad lstm[] = {
        {MOVE_N_IN, 0, 0, 2, "2 inputs, expected 3 to 8"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_OUT, 0, 0, 4, "4 outputs, expected 1 to 3"},
        {MOVE_N_PARAM, 0, 0, 21, "21 parameters"},
        {MOVE_PARAM, HG_RNN_PARAM_LAYOUT, 0, 2, "layout is 2"},
        {MOVE_PARAM, HG_RNN_PARAM_DIRECTION, 0, 3, "direction is 3"},
        {MOVE_PARAM, HG_RNN_PARAM_VARIANT, 0, 2, "variant is 2"},
        {MOVE_PARAM, HG_RNN_PARAM_FUNCTIONS + 3, 0, 11, "activation is 11"},
        {MOVE_IN_TYPE, 0, 0, HOLO_I32, "input 0 has type int32"},
        {MOVE_IN_TYPE, 1, 0, HOLO_F64, "W has type float64"},
        {MOVE_IN_TYPE, 2, 0, HOLO_I32, "input 2 has type int32"},
        {MOVE_IN_TYPE, 2, 0, HOLO_F64, "R has type float64"},
        {MOVE_IN_TYPE, 3, 0, HOLO_I8, "input 3 has type int8"},
        {MOVE_IN_TYPE, 4, 0, HOLO_I64, "input 4 has type int64"},
        {MOVE_IN_TYPE, 1, 0, HOLO_NONE, "input 1 is missing"},
        {MOVE_OUT_TYPE, 0, 0, HOLO_I32, "output 0 has type int32"},
        {MOVE_OUT_TYPE, 2, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, 0, 0, 2, "X has rank 2"},
        {MOVE_IN_RANK, 1, 0, 2, "W has rank 2"},
        {MOVE_IN_RANK, 2, 0, 2, "R has rank 2"},
        {MOVE_IN_DIM, 1, 2, 6, "dimension 2 of W is 6"},
        {MOVE_IN_DIM, 2, 1, 75, "dimension 1 of R is 75"},
        {MOVE_IN_DIM, 3, 1, 151, "dimension 1 of B is 151"},
        {MOVE_IN_DIM, 4, 0, 2, "dimension 0 of lengths is 2"},
        {MOVE_IN_DIM, 5, 0, 1, "dimension 0 of initial h is 1"},
        {MOVE_IN_DIM, 6, 1, 2, "dimension 1 of initial c is 2"},
        {MOVE_IN_DIM, 7, 1, 58, "dimension 1 of P is 58"},
        {MOVE_OUT_DIM, 0, 0, 5, "dimension 0 of output is 5"},
        {MOVE_OUT_DIM, 1, 2, 20, "dimension 2 of output is 20"},
        {MOVE_OUT_RANK, 1, 0, 4, "output has rank 4"},
    };
    MOVE_REFUSES(&hg_kernels_rnn[LSTM], rnn_make_lstm, lstm);
    static const move_bad gru[] = {
        {MOVE_N_IN, 0, 0, 7, "7 inputs, expected 3 to 6"},
        {MOVE_N_OUT, 0, 0, 3, "3 outputs, expected 1 to 2"},
        {MOVE_IN_DIM, 1, 1, 76, "dimension 1 of W is 76"},
    };
    MOVE_REFUSES(&hg_kernels_rnn[GRU], rnn_make_gru, gru);
}

const hg_test_case hg_tests_kernel_rnn[] = {
    {"values", rnn_values},
#if defined(TUNED)
    {"tuned", rnn_tuned},
#endif
    {"absent", rnn_absent}, {"lengths_fault", rnn_lengths_fault}, {"refuses", rnn_refuses}, {0},
};
