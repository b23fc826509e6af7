/* recur.c - recur.p16 against the standard's equations, step by step in f64. */
#include "kernel/recur.h"

#include "kernel/value.h"
#include "kernel/variants.h"

extern const hg_kernel hg_kernels_recur[];
#if defined(TUNED)
extern const hg_kernel TUNED(recur)[];
#endif

enum { STEPS = 5, MOST = 176 };

static const int64_t recur_gates[] = {1, 3, 4};
static const int recur_functions[] = {1, 2, 3};

typedef struct recur_case {
    hg_rnn_kind kind;
    int64_t batch, hidden, layout, direction, variant;
    double clip;
    bool bias, lengths, h0, c0; /* bias of lstm: peepholes */
    int64_t function[3];
} recur_case;

#define RECUR_GRU                                                                                  \
    {                                                                                              \
        HG_RNN_SIGMOID, HG_RNN_TANH                                                                \
    }
#define RECUR_LSTM                                                                                 \
    {                                                                                              \
        HG_RNN_SIGMOID, HG_RNN_TANH, HG_RNN_TANH                                                   \
    }

static const recur_case recur_cases[] = {
    {HG_RNN_PLAIN, 1, 3, 0, 0, 0, 0, false, false, false, false, {HG_RNN_TANH}},
    {HG_RNN_PLAIN, 17, 16, 1, 2, 0, 0.5, false, true, true, false, {HG_RNN_RELU}},
    {HG_RNN_PLAIN, 2, 9, 0, 1, 0, 0, false, true, true, false, {HG_RNN_SIGMOID}},
    {HG_RNN_GRU, 1, 4, 0, 0, 0, 0, true, false, false, false, RECUR_GRU},
    {HG_RNN_GRU, 3, 32, 1, 1, 0, 0, true, true, true, false, RECUR_GRU},
    {HG_RNN_GRU, 9, 16, 0, 2, 1, 0, true, true, true, false, RECUR_GRU},
    {HG_RNN_GRU, 7, 11, 0, 0, 0, 1, false, false, true, false, {HG_RNN_TANH, HG_RNN_RELU}},
    {HG_RNN_LSTM, 1, 32, 0, 0, 0, 0, false, false, true, true, RECUR_LSTM},
    {HG_RNN_LSTM, 53, 5, 1, 0, 0, 0, false, true, false, true, RECUR_LSTM},
    {HG_RNN_LSTM, 6, 20, 0, 2, 1, 0.7, false, true, true, true, RECUR_LSTM},
    {HG_RNN_LSTM, 2, 8, 0, 1, 0, 0, false, false, false, false, {HG_RNN_TANH, HG_RNN_RELU, 1}},
    {HG_RNN_LSTM, 3, 12, 0, 2, 0, 0, true, true, true, true, RECUR_LSTM},
    {HG_RNN_LSTM, 1, 20, 0, 2, 1, 0.7, true, false, false, true, RECUR_LSTM},
};

static int64_t recur_directions(const recur_case *p)
{
    return p->direction == HG_RNN_BIDIRECTIONAL ? 2 : 1;
}

static void recur_optional(move_call *c, bool present, holo_dtype dtype, int rank,
                           const int64_t *dim, uint64_t seed)
{
    if (present)
        value_in(c, dtype, rank, dim, seed);
    else
        value_absent(c);
}

static void recur_make(move_call *c, const recur_case *p)
{
    const int64_t dirs = recur_directions(p), width = recur_gates[p->kind] * p->hidden;
    const int64_t state[2][3] = {{dirs, p->batch, p->hidden}, {p->batch, dirs, p->hidden}};
    const int64_t x[2][3] = {{STEPS, p->batch, dirs * width}, {p->batch, STEPS, dirs * width}};
    const int64_t y[2][4] = {{STEPS, dirs, p->batch, p->hidden},
                             {p->batch, STEPS, dirs, p->hidden}};
    value_in(c, HOLO_F32, 3, x[p->layout], 1);
    value_in(c, HOLO_F32, 3, MOVE_DIMS(dirs * hg_panels(width), p->hidden, HG_PANEL), 2);
    for (int64_t i = 0; i < holo_tensor_count(&c->in[1]); i++) /* keeps unbounded layers small */
        value_set(&c->in[1], i, value_get(&c->in[1], i) * 0.1);
    recur_optional(c, p->bias && p->kind != HG_RNN_LSTM, HOLO_F32, 2, MOVE_DIMS(dirs, p->hidden),
                   3);
    recur_optional(c, p->lengths, HOLO_I32, 1, MOVE_DIMS(p->batch), 4);
    for (int64_t i = 0; i < p->batch && p->lengths; i++)
        ((int32_t *)c->in[HG_RECUR_LENGTHS].data)[i] = (int32_t)((i * 7 + 2) % (STEPS + 1));
    recur_optional(c, p->h0, HOLO_F32, 3, state[p->layout], 5);
    if (p->kind == HG_RNN_LSTM) recur_optional(c, p->c0, HOLO_F32, 3, state[p->layout], 6);
    if (p->kind == HG_RNN_LSTM && p->bias)
        value_in(c, HOLO_F32, 2, MOVE_DIMS(dirs, 3 * p->hidden), 7);
    move_out(c, HOLO_F32, 4, y[p->layout]);
    move_out(c, HOLO_F32, 3, state[p->layout]);
    if (p->kind == HG_RNN_LSTM) move_out(c, HOLO_F32, 3, state[p->layout]);
    move_param(c, p->layout);
    move_param(c, p->direction);
    value_param_f64(c, p->clip);
    move_param(c, p->variant);
    for (int64_t k = 0; k < dirs * recur_functions[p->kind]; k++) {
        move_param(c, p->function[k % recur_functions[p->kind]]);
        value_param_f64(c, 0);
        value_param_f64(c, 0);
    }
    move_param(c, p->kind);
}

static double recur_apply(const recur_case *p, int which, double x)
{
    if (p->clip > 0) x = fmax(-p->clip, fmin(p->clip, x));
    if (p->function[which] == HG_RNN_RELU) return fmax(x, 0);
    return p->function[which] == HG_RNN_TANH ? tanh(x) : 1 / (1 + exp(-x));
}

/* Element (row, k) of R of a direction, which lies in panels of 16 rows. */
static double recur_weight(const move_call *c, const recur_case *p, int64_t d, int64_t row,
                           int64_t k)
{
    const int64_t panel = d * hg_panels(recur_gates[p->kind] * p->hidden) + row / 16;
    return value_get(&c->in[1], (panel * p->hidden + k) * 16 + row % 16);
}

static double recur_rh(const move_call *c, const recur_case *p, int64_t d, int64_t row,
                       const double *h)
{
    double sum = 0;
    for (int64_t k = 0; k < p->hidden; k++)
        sum += recur_weight(c, p, d, row, k) * h[k];
    return sum;
}

typedef struct recur_state {
    double h[MOST], c[MOST];
} recur_state;

/* x: first element of the step's row of the direction. */
static void recur_step(const move_call *c, const recur_case *p, int64_t d, int64_t x,
                       recur_state *s)
{
    const recur_state old = *s;
    const int64_t n = p->hidden;
    double gate[4][MOST], gated[MOST];
    for (int64_t g = 0; g < recur_gates[p->kind]; g++)
        for (int64_t i = 0; i < n; i++)
            gate[g][i] = value_get(&c->in[0], x + g * n + i) + recur_rh(c, p, d, g * n + i, old.h);
    for (int64_t i = 0; i < n && p->kind == HG_RNN_PLAIN; i++)
        s->h[i] = recur_apply(p, 0, gate[0][i]);
    for (int64_t i = 0; i < n && p->kind == HG_RNN_GRU; i++)
        gated[i] = recur_apply(p, 0, gate[1][i]) * old.h[i];
    for (int64_t i = 0; i < n && p->kind == HG_RNN_GRU; i++) {
        const double z = recur_apply(p, 0, gate[0][i]), r = recur_apply(p, 0, gate[1][i]);
        const double bias = p->bias ? value_get(&c->in[2], d * n + i) : 0;
        const double own = recur_rh(c, p, d, 2 * n + i, p->variant ? old.h : gated) + bias;
        const double next = value_get(&c->in[0], x + 2 * n + i) + (p->variant ? r * own : own);
        s->h[i] = (1 - z) * recur_apply(p, 1, next) + z * old.h[i];
    }
    for (int64_t i = 0; i < n && p->kind == HG_RNN_LSTM; i++) {
        double peep[3] = {0}; /* input, output, forget */
        for (int64_t k = 0; k < 3 && p->bias; k++)
            peep[k] = value_get(&c->in[HG_RECUR_P], (d * 3 + k) * n + i);
        const double in = recur_apply(p, 0, gate[0][i] + peep[0] * old.c[i]);
        const double keep = recur_apply(p, 0, gate[2][i] + peep[2] * old.c[i]);
        s->c[i] = (p->variant ? 1 - in : keep) * old.c[i] + in * recur_apply(p, 1, gate[3][i]);
        s->h[i] = recur_apply(p, 0, gate[1][i] + peep[1] * s->c[i]) * recur_apply(p, 2, s->c[i]);
    }
}

static bool recur_check_row(const holo_tensor *t, int64_t at, int64_t n, const double *expected)
{
    for (int64_t i = 0; i < n; i++)
        if (!CHECK_NEAR(value_get(t, at + i), expected == NULL ? 0 : expected[i],
                        4e-6 * (expected == NULL ? 1 : 1 + fabs(expected[i]))))
            return false;
    return true;
}

static bool recur_sequence(const move_call *c, const recur_case *p, int64_t d, int64_t b)
{
    const int64_t dirs = recur_directions(p), n = p->hidden, width = recur_gates[p->kind] * n;
    const int64_t state = (p->layout == 0 ? d * p->batch + b : b * dirs + d) * n;
    const int64_t length = p->lengths ? ((const int32_t *)c->in[3].data)[b] : STEPS;
    recur_state s = {{0}, {0}};
    for (int64_t i = 0; i < n; i++) {
        s.h[i] = p->h0 ? value_get(&c->in[4], state + i) : 0;
        s.c[i] = p->c0 ? value_get(&c->in[5], state + i) : 0;
    }
    for (int64_t k = 0; k < STEPS; k++) {
        const bool back = d == 1 || p->direction == HG_RNN_REVERSE;
        const int64_t t = k >= length ? k : back ? length - 1 - k : k;
        const int64_t x = (p->layout == 0 ? t * p->batch + b : b * STEPS + t) * dirs * width;
        const int64_t y =
            p->layout == 0 ? (t * dirs + d) * p->batch + b : (b * STEPS + t) * dirs + d;
        if (k < length) recur_step(c, p, d, x + d * width, &s);
        if (!recur_check_row(&c->out[0], y * n, n, k < length ? s.h : NULL)) return false;
    }
    if (!recur_check_row(&c->out[1], state, n, s.h)) return false;
    return p->kind != HG_RNN_LSTM || recur_check_row(&c->out[2], state, n, s.c);
}

static void recur_all(const hg_kernel *kernel)
{
    for (size_t k = 0; k < HG_COUNT(recur_cases); k++) {
        const recur_case *p = &recur_cases[k];
        move_call c = {0};
        recur_make(&c, p);
        if (move_run(kernel, &c))
            for (int64_t i = 0; i < recur_directions(p) * p->batch; i++)
                if (!recur_sequence(&c, p, i / p->batch, i % p->batch)) break;
        move_free(&c);
    }
}

static void recur_values(void)
{
    recur_all(hg_kernels_recur);
}

#if defined(TUNED)
static void recur_tuned(void)
{
    if (!tuned_runs()) SKIP("no tuned kernels");
    recur_all(TUNED(recur));
    move_call c = {0};
    holo_error error;
    recur_case p = recur_cases[0];
    p.function[0] = HG_RNN_ELU;
    recur_make(&c, &p);
    move_connect(&c);
    CHECK_EQ_INT(TUNED(recur)->check(&c.args, &error), HOLO_E_UNSUPPORTED);
    c.in[0].dtype = HOLO_F64;
    CHECK_EQ_INT(TUNED(recur)->check(&c.args, &error), HOLO_E_TYPE);
    move_free(&c);
}
#endif

#if defined(TUNED)
/* All that the processor has gives the bits of `narrow`, which ran without; unlike in move_run all
 * units come at once, and so do all rows. */
static void recur_run_wide(const recur_case *p, const move_call *narrow, bool is_wide)
{
    move_call c = {0};
    recur_make(&c, p);
    move_connect(&c);
    c.args.cpu = tuned_features(is_wide);
    void *scratch = move_scratch(TUNED(recur), &c);
    TUNED(recur)->run(&c.args, (hg_range){0, hg_kernel_work(TUNED(recur), &c.args).units, scratch});
    for (uint32_t j = 0; j < c.args.n_out; j++)
        if (!CHECK_MEM(c.out[j].data, narrow->out[j].data, holo_tensor_bytes(&c.out[j])))
            hg_test_fail(__FILE__, __LINE__, "kind %d, batch %lld, hidden %lld", (int)p->kind,
                         (long long)p->batch, (long long)p->hidden);
    free(scratch);
    move_free(&c);
}

/* Numbers of rows and of panels that are no whole tiles, hidden sizes that are no whole vectors,
 * functions with code of their own and without. */
static void recur_wide(void)
{
    static const int64_t hidden[] = {1, 7, 15, 16, 17, 24, 33, 48, 70, 100};
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (int64_t k = 0; k < 17 * 3 * (int64_t)HG_COUNT(hidden); k++) {
        const int64_t batch = k / 3 % 17 + 1, which = k / 51;
        recur_case p = {.kind = (hg_rnn_kind)(k % 3),
                        .batch = batch,
                        .hidden = hidden[which],
                        .layout = k % 2,
                        .direction = (batch + which) % 3,
                        .variant = batch / 2 % 2,
                        .clip = k % 7 == 0 ? 0.4 : 0,
                        .lengths = k % 4 == 1,
                        .h0 = true,
                        .c0 = true,
                        .function = RECUR_LSTM};
        p.bias = p.kind == HG_RNN_GRU ? batch % 2 != 0 : (batch + which) % 5 == 0;
        if (p.kind == HG_RNN_PLAIN) p.function[0] = HG_RNN_TANH;
        if (k % 11 == 0) p.function[0] = HG_RNN_RELU;
        move_call c = {0};
        recur_make(&c, &p);
        const bool runs = move_run(TUNED(recur), &c);
        for (int is_wide = 0; runs && is_wide < 2; is_wide++)
            recur_run_wide(&p, &c, is_wide != 0);
        move_free(&c);
    }
}

/* Threads that share a product give the bits that one thread gives. */
static void recur_team(void)
{
    static const recur_case cases[] = {
        {HG_RNN_LSTM, 1, 176, 0, 0, 0, 0, false, false, true, true, RECUR_LSTM},
        {HG_RNN_GRU, 3, 144, 1, 1, 0, 0, true, true, true, false, RECUR_GRU},
        {HG_RNN_GRU, 1, 150, 0, 0, 1, 0, true, false, true, false, RECUR_GRU},
        {HG_RNN_LSTM, 7, 100, 0, 2, 0, 0, false, true, true, true, RECUR_LSTM},
    };
    if (!tuned_runs()) SKIP("no tuned kernels");
    for (size_t k = 0; k < 2 * HG_COUNT(cases); k++) {
        const recur_case *p = &cases[k / 2];
        move_call alone = {0}, c = {0};
        holo_pool *pool = NULL;
        holo_error error;
        if (!CHECK_OK(hg_pool_new(2 + k % 2, NULL, &pool, &error), &error)) return;
        recur_make(&alone, p);
        recur_make(&c, p);
        c.args.team = pool;
        if (move_run(TUNED(recur), &alone) && move_run(TUNED(recur), &c)) {
            for (uint32_t j = 0; j < c.args.n_out; j++)
                CHECK_MEM(c.out[j].data, alone.out[j].data, holo_tensor_bytes(&c.out[j]));
            for (int64_t i = 0; i < recur_directions(p) * p->batch; i++)
                if (!recur_sequence(&c, p, i / p->batch, i % p->batch)) break;
        }
        hg_pool_free(pool);
        move_free(&alone);
        move_free(&c);
    }
}
#endif

/* Outputs that nobody wants, and inputs behind the last that is there. */
static void recur_absent(void)
{
    for (int missing = 0; missing < 3; missing++) {
        move_call c = {0};
        recur_make(&c, &recur_cases[7]);
        free(c.out[missing].data);
        c.out[missing] = (holo_tensor){0};
        c.args.n_in = 2;
        CHECK(move_run(hg_kernels_recur, &c));
        move_free(&c);
    }
}

static void recur_lengths_fault(void)
{
    static const int32_t wrong[] = {-1, STEPS + 1, INT32_MAX};
    for (size_t k = 0; k < HG_COUNT(wrong); k++) {
        move_call c = {0};
        recur_make(&c, &recur_cases[4]);
        ((int32_t *)c.in[HG_RECUR_LENGTHS].data)[2] = wrong[k];
        CHECK(move_run(hg_kernels_recur, &c));
        CHECK_EQ_INT(c.fault.kind, HG_FAULT_RANGE);
        CHECK_EQ_INT(c.fault.element, 2);
        move_free(&c);
    }
}

static void recur_make_lstm(move_call *c)
{
    recur_make(c, &recur_cases[9]);
}

static void recur_make_peepholes(move_call *c)
{
    recur_make(c, &recur_cases[11]);
}

static void recur_make_gru(move_call *c)
{
    recur_make(c, &recur_cases[5]);
}

static void recur_refuses(void)
{
    static const move_bad lstm[] = {
        {MOVE_N_PARAM, 0, 0, 4, "4 parameters, expected at least 5"},
        {MOVE_PARAM, 22, 0, 3, "kind is 3"},
        {MOVE_N_IN, 0, 0, 1, "1 inputs, expected 2 to 7"},
        {MOVE_N_OUT, 0, 0, 0, "0 outputs"},
        {MOVE_N_OUT, 0, 0, 4, "4 outputs, expected 1 to 3"},
        {MOVE_PARAM, HG_RNN_PARAM_LAYOUT, 0, 2, "layout is 2"},
        {MOVE_PARAM, HG_RNN_PARAM_DIRECTION, 0, 3, "direction is 3"},
        {MOVE_PARAM, HG_RNN_PARAM_VARIANT, 0, 2, "variant is 2"},
        {MOVE_PARAM, HG_RNN_PARAM_FUNCTIONS + 3, 0, 11, "activation is 11"},
        {MOVE_IN_TYPE, HG_RECUR_X, 0, HOLO_F64, "input 0 has type float64"},
        {MOVE_IN_TYPE, HG_RECUR_R, 0, HOLO_F16, "input 1 has type float16"},
        {MOVE_IN_TYPE, HG_RECUR_LENGTHS, 0, HOLO_I64, "input 3 has type int64"},
        {MOVE_IN_TYPE, HG_RECUR_C0, 0, HOLO_F64, "input 5 has type float64"},
        {MOVE_OUT_TYPE, 2, 0, HOLO_F64, "output has type float64"},
        {MOVE_IN_RANK, HG_RECUR_X, 0, 2, "X has rank 2"},
        {MOVE_IN_RANK, HG_RECUR_R, 0, 2, "R has rank 2"},
        {MOVE_IN_DIM, HG_RECUR_X, 2, 161, "X has rows of 161, expected 160"},
        {MOVE_IN_DIM, HG_RECUR_R, 0, 9, "dimension 0 of R is 9"},
        {MOVE_IN_DIM, HG_RECUR_R, 2, 8, "dimension 2 of R is 8"},
        {MOVE_IN_DIM, HG_RECUR_LENGTHS, 0, 5, "dimension 0 of lengths is 5"},
        {MOVE_IN_DIM, HG_RECUR_H0, 0, 1, "dimension 0 of initial h is 1"},
        {MOVE_IN_DIM, HG_RECUR_C0, 1, 2, "dimension 1 of initial c is 2"},
        {MOVE_OUT_DIM, 0, 0, 4, "dimension 0 of output is 4"},
    };
    MOVE_REFUSES(hg_kernels_recur, recur_make_lstm, lstm);
    static const move_bad peepholes[] = {
        {MOVE_N_IN, 0, 0, 8, "8 inputs, expected 2 to 7"},
        {MOVE_IN_TYPE, HG_RECUR_P, 0, HOLO_F64, "input 6 has type float64"},
        {MOVE_IN_RANK, HG_RECUR_P, 0, 1, "peepholes has rank 1"},
        {MOVE_IN_DIM, HG_RECUR_P, 1, 35, "dimension 1 of peepholes is 35"},
    };
    MOVE_REFUSES(hg_kernels_recur, recur_make_peepholes, peepholes);
    static const move_bad gru[] = {
        {MOVE_N_IN, 0, 0, 6, "6 inputs, expected 2 to 5"},
        {MOVE_N_PARAM, 0, 0, 16, "16 parameters, expected 11"}, /* a 0 is the kind of rnn */
        {MOVE_N_OUT, 0, 0, 3, "3 outputs, expected 1 to 2"},
        {MOVE_IN_DIM, HG_RECUR_B, 1, 15, "dimension 1 of bias is 15"},
    };
    MOVE_REFUSES(hg_kernels_recur, recur_make_gru, gru);
}

const hg_test_case hg_tests_kernel_recur[] = {
    {"values", recur_values},
#if defined(TUNED)
    {"tuned", recur_tuned},     {"wide", recur_wide},
    {"team", recur_team},
#endif
    {"absent", recur_absent},   {"lengths_fault", recur_lengths_fault},
    {"refuses", recur_refuses}, {0},
};
