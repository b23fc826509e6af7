/* rnn.c - recurrent layers. */
#include "oracle/oracle.h"

#include <stdio.h>

enum { RNN_SEQ = 4, RNN_BATCH = 3, RNN_IN = 2, RNN_HIDDEN = 5, RNN_FUNCTIONS = 3 };

typedef struct rnn_function {
    const char *name;
    float alpha, beta;
    int numbers; /* of alpha, beta that it has */
} rnn_function;

static const rnn_function rnn_all[] = {
    {"Relu", 0, 0, 0},
    {"Tanh", 0, 0, 0},
    {"Sigmoid", 0, 0, 0},
    {"Affine", 0.5F, 0.25F, 2},
    {"LeakyRelu", 0.25F, 0, 1},
    {"ThresholdedRelu", 0.125F, 0, 1},
    {"ScaledTanh", 0.75F, 0.5F, 2},
    {"HardSigmoid", 0.25F, 0.5F, 2},
    {"Elu", 0.5F, 0, 1},
    {"Softsign", 0, 0, 0},
    {"Softplus", 0, 0, 0},
};
enum { RNN_ALL = sizeof rnn_all / sizeof *rnn_all };
enum { RELU, TANH, SIGMOID };

static long double rnn_apply(const rnn_function *f, long double x)
{
    switch (f - rnn_all) {
    case 0: return x > 0 ? x : 0;
    case 1: return tanhl(x);
    case 2: return 1 / (1 + expl(-x));
    case 3: return f->alpha * x + f->beta;
    case 4: return x >= 0 ? x : f->alpha * x;
    case 5: return x >= f->alpha ? x : 0;
    case 6: return f->alpha * tanhl(f->beta * x);
    case 7: return fminl(fmaxl(f->alpha * x + f->beta, 0), 1);
    case 8: return x >= 0 ? x : f->alpha * (expl(x) - 1);
    case 9: return x / (1 + fabsl(x));
    default: return logl(1 + expl(x));
    }
}

/* A layer: which gates, and what the case gives. */
typedef struct rnn_layer {
    const char *op, *direction;
    holo_dtype type;
    int gates, functions;
    int64_t seq, batch;
    bool bias, lengths, initial, peepholes, named, batch_first, reset_after, coupled;
    float clip;                               /* 0: none */
    const rnn_function *f[2 * RNN_FUNCTIONS]; /* of the second direction behind */
    const ora *x, *w, *r, *b, *lens, *h0, *c0, *p;
    ora *y, *yh, *yc;
} rnn_layer;

typedef struct rnn_state {
    long double h[RNN_HIDDEN], c[RNN_HIDDEN];
} rnn_state;

static long double rnn_act(const rnn_layer *l, int d, int which, long double x)
{
    if (l->clip > 0) x = fminl(fmaxl(x, -l->clip), l->clip);
    return rnn_apply(l->f[d * l->functions + which], x);
}

static long double rnn_bias(const rnn_layer *l, int d, int row, bool recurrent)
{
    const int rows = l->gates * RNN_HIDDEN;
    return l->b == NULL ? 0 : l->b->v[d * 2 * rows + (recurrent ? rows : 0) + row].re;
}

/* Row `row` of the gates: the input's part, with its bias. */
static long double rnn_from_x(const rnn_layer *l, int d, int row, int64_t t, int64_t n)
{
    long double sum = rnn_bias(l, d, row, false);
    const int64_t from = (l->batch_first ? n * l->seq + t : t * l->batch + n) * RNN_IN;
    for (int k = 0; k < RNN_IN; k++)
        sum += l->x->v[from + k].re * l->w->v[(d * l->gates * RNN_HIDDEN + row) * RNN_IN + k].re;
    return sum;
}

static long double rnn_from_h(const rnn_layer *l, int d, int row, const long double *h)
{
    long double sum = rnn_bias(l, d, row, true);
    for (int k = 0; k < RNN_HIDDEN; k++)
        sum += h[k] * l->r->v[(d * l->gates * RNN_HIDDEN + row) * RNN_HIDDEN + k].re;
    return sum;
}

/* ---- one step ----------------------------------------------------------------------------------
 */

typedef void rnn_step_fn(const rnn_layer *l, int d, int64_t t, int64_t n, rnn_state *s);

static void rnn_step(const rnn_layer *l, int d, int64_t t, int64_t n, rnn_state *s)
{
    const rnn_state old = *s;
    for (int k = 0; k < RNN_HIDDEN; k++)
        s->h[k] = rnn_act(l, d, 0, rnn_from_x(l, d, k, t, n) + rnn_from_h(l, d, k, old.h));
}

static void gru_step(const rnn_layer *l, int d, int64_t t, int64_t n, rnn_state *s)
{
    const rnn_state old = *s;
    const int H = RNN_HIDDEN;
    long double z[RNN_HIDDEN], r[RNN_HIDDEN], reset[RNN_HIDDEN];
    for (int k = 0; k < H; k++) {
        z[k] = rnn_act(l, d, 0, rnn_from_x(l, d, k, t, n) + rnn_from_h(l, d, k, old.h));
        r[k] = rnn_act(l, d, 0, rnn_from_x(l, d, H + k, t, n) + rnn_from_h(l, d, H + k, old.h));
        reset[k] = r[k] * old.h[k];
    }
    for (int k = 0; k < H; k++) {
        const long double x = rnn_from_x(l, d, 2 * H + k, t, n);
        const long double h = l->reset_after ? r[k] * rnn_from_h(l, d, 2 * H + k, old.h)
                                             : rnn_from_h(l, d, 2 * H + k, reset);
        s->h[k] = (1 - z[k]) * rnn_act(l, d, 1, x + h) + z[k] * old.h[k];
    }
}

static long double lstm_peephole(const rnn_layer *l, int d, int gate, int k)
{
    return l->p == NULL ? 0 : l->p->v[(d * 3 + gate) * RNN_HIDDEN + k].re;
}

static void lstm_step(const rnn_layer *l, int d, int64_t t, int64_t n, rnn_state *s)
{
    const rnn_state old = *s;
    const int H = RNN_HIDDEN;
    enum { I, O, F, C };
    for (int k = 0; k < H; k++) {
        long double sum[4];
        for (int gate = 0; gate < 4; gate++)
            sum[gate] =
                rnn_from_x(l, d, gate * H + k, t, n) + rnn_from_h(l, d, gate * H + k, old.h);
        const long double i = rnn_act(l, d, 0, sum[I] + lstm_peephole(l, d, 0, k) * old.c[k]);
        const long double f = rnn_act(l, d, 0, sum[F] + lstm_peephole(l, d, 2, k) * old.c[k]);
        s->c[k] = (l->coupled ? 1 - i : f) * old.c[k] + i * rnn_act(l, d, 1, sum[C]);
        const long double o = rnn_act(l, d, 0, sum[O] + lstm_peephole(l, d, 1, k) * s->c[k]);
        s->h[k] = o * rnn_act(l, d, 2, s->c[k]);
    }
}

/* ---- a whole case ------------------------------------------------------------------------------
 */

static wide rnn_result(const rnn_layer *l, long double v)
{
    return ora_near(l->type, v, 2, 40 * (long double)(l->seq + 1));
}

static void rnn_sequence(const rnn_layer *l, rnn_step_fn *step, int d, int directions, int64_t n)
{
    rnn_state s = {{0}, {0}};
    const bool reverse = d == 1 || strcmp(l->direction, "reverse") == 0;
    const int64_t last = (l->batch_first ? n * directions + d : d * l->batch + n) * RNN_HIDDEN;
    const int64_t length = l->lens == NULL ? l->seq : (int64_t)l->lens->v[n].i;
    for (int k = 0; k < RNN_HIDDEN; k++) {
        s.h[k] = l->h0 == NULL ? 0 : l->h0->v[last + k].re;
        s.c[k] = l->c0 == NULL ? 0 : l->c0->v[last + k].re;
    }
    for (int64_t at = 0; at < length; at++) {
        const int64_t t = reverse ? length - 1 - at : at;
        step(l, d, t, n, &s);
        const int64_t to = l->batch_first ? (n * l->seq + t) * directions + d
                                          : (t * directions + d) * l->batch + n;
        for (int k = 0; k < RNN_HIDDEN; k++)
            l->y->v[to * RNN_HIDDEN + k] = rnn_result(l, s.h[k]);
    }
    for (int k = 0; k < RNN_HIDDEN; k++) {
        l->yh->v[last + k] = rnn_result(l, s.h[k]);
        l->yc->v[last + k] = rnn_result(l, s.c[k]);
    }
}

static const char *rnn_attrs(const rnn_layer *l, int directions)
{
    char *text = ora_alloc(600), names[200] = "", alpha[100] = "", beta[100] = "";
    for (int k = 0; k < directions * l->functions; k++) {
        const rnn_function *f = l->f[k];
        snprintf(names + strlen(names), sizeof names - strlen(names), "\"%s\",", f->name);
        if (f->numbers > 0)
            snprintf(alpha + strlen(alpha), sizeof alpha - strlen(alpha), "%f,", (double)f->alpha);
        if (f->numbers > 1)
            snprintf(beta + strlen(beta), sizeof beta - strlen(beta), "%f,", (double)f->beta);
    }
    size_t used = (size_t)snprintf(text, 600, "hidden_size=%d direction=\"%s\" layout=%d",
                                   RNN_HIDDEN, l->direction, l->batch_first);
    if (l->named) used += (size_t)snprintf(text + used, 600 - used, " activations=[%s]", names);
    if (alpha[0])
        used += (size_t)snprintf(text + used, 600 - used, " activation_alpha=[%s]", alpha);
    if (beta[0]) used += (size_t)snprintf(text + used, 600 - used, " activation_beta=[%s]", beta);
    if (l->clip > 0) used += (size_t)snprintf(text + used, 600 - used, " clip=%f", (double)l->clip);
    if (l->reset_after) used += (size_t)snprintf(text + used, 600 - used, " linear_before_reset=1");
    if (l->coupled) snprintf(text + used, 600 - used, " input_forget=1");
    return text;
}

static ora *rnn_make(const rnn_layer *l, int rank, const int64_t *dim, uint32_t seed)
{
    ora *t = ora_new(l->type, rank, dim);
    for (int64_t k = 0; k < t->count; k++) {
        const long double r = (long double)(ora_random(&seed) % 256);
        t->v[k].re = ora_round(l->type, (r - 128) / 160);
    }
    return t;
}

static void rnn_inputs(rnn_layer *l, int64_t D)
{
    const int64_t rows = l->gates * RNN_HIDDEN, s = l->seq, n = l->batch, h = RNN_HIDDEN;
    const int64_t x[] = {l->batch_first ? n : s, l->batch_first ? s : n, RNN_IN};
    const int64_t y0[] = {s, D, n, h}, y1[] = {n, s, D, h};
    const int64_t last[] = {l->batch_first ? n : D, l->batch_first ? D : n, h};
    l->x = rnn_make(l, 3, x, 1);
    l->w = rnn_make(l, 3, (int64_t[]){D, rows, RNN_IN}, 2);
    l->r = rnn_make(l, 3, (int64_t[]){D, rows, h}, 3);
    if (l->bias) l->b = rnn_make(l, 2, (int64_t[]){D, 2 * rows}, 4);
    if (l->initial) l->h0 = rnn_make(l, 3, last, 5);
    if (l->initial && l->gates == 4) l->c0 = rnn_make(l, 3, last, 6);
    if (l->peepholes) l->p = rnn_make(l, 2, (int64_t[]){D, 3 * h}, 7);
    if (l->lengths) {
        ora *lens = ora_new(HOLO_I32, 1, &n);
        for (int64_t k = 0; k < n; k++)
            lens->v[k].i = (uint64_t)((k * 2 + 1) % (s + 1));
        l->lens = lens;
    }
    l->y = ora_new(l->type, 4, l->batch_first ? y1 : y0);
    l->yh = ora_new(l->type, 3, last);
    l->yc = ora_new(l->type, 3, last);
}

static void rnn_check(rnn_layer l)
{
    const bool lstm = l.gates == 4;
    const int D = strcmp(l.direction, "bidirectional") == 0 ? 2 : 1;
    rnn_step_fn *step = lstm ? lstm_step : l.gates == 3 ? gru_step : rnn_step;
    rnn_inputs(&l, D);
    for (int d = 0; d < D; d++)
        for (int64_t n = 0; n < l.batch; n++)
            rnn_sequence(&l, step, d, D, n);
    const char *attrs = rnn_attrs(&l, D);
    ora_case c = {.op = l.op, .attrs = attrs, ORA_IN(l.x, l.w, l.r, l.b, l.lens, l.h0, l.c0, l.p)};
    c.n_in = lstm ? 8 : 6;
    c.out[0] = l.y;
    c.out[1] = l.yh;
    c.out[2] = lstm ? l.yc : NULL;
    c.n_out = lstm ? 3 : 2;
    ora_check(&c);
    c.out[0] = NULL;
    ora_check(&c);
}

static void rnn_defaults(rnn_layer *l)
{
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < l->functions; k++)
            l->f[d * l->functions + k] = &rnn_all[l->functions > 1 && k == 0 ? SIGMOID : TANH];
}

/* Every function in every place. */
static void rnn_functions(rnn_layer l)
{
    l.named = l.bias = true;
    for (int k = 0; k < RNN_ALL; k++) {
        for (int which = 0; which < 2 * l.functions; which++)
            l.f[which] = &rnn_all[(k + 3 * which) % RNN_ALL];
        l.direction = k % 2 ? "bidirectional" : "reverse";
        rnn_check(l);
    }
}

static void rnn_row(const ora_row *row)
{
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};
    const int gates = strcmp(row->op, "LSTM") == 0 ? 4 : strcmp(row->op, "GRU") == 0 ? 3 : 1;
    ORA_EACH_TYPE(type, row->op, "T")
    {
        rnn_layer l = {.op = row->op,
                       .type = type,
                       .gates = gates,
                       .seq = RNN_SEQ,
                       .batch = RNN_BATCH,
                       .direction = "forward",
                       .functions = gates == 4   ? 3
                                    : gates == 3 ? 2
                                                 : 1};
        rnn_defaults(&l);
        for (int k = 0; k < 48; k++) {
            l.direction = directions[k % 3];
            l.bias = k / 3 % 2;
            l.initial = k / 6 % 2;
            l.lengths = k / 12 % 2;
            l.batch_first = k / 24 % 2;
            l.reset_after = gates == 3 && k % 4 > 1;
            l.peepholes = gates == 4 && k % 5 > 2;
            l.coupled = gates == 4 && k % 7 == 5;
            l.clip = k % 4 == 3 ? 0.25F : 0;
            rnn_check(l);
        }
        rnn_layer small = l;
        small.lengths = false;
        small.seq = 0;
        rnn_check(small);
        small.seq = 1;
        rnn_check(small);
        small.batch = 0;
        rnn_check(small);
        if (type == HOLO_F32 || type == HOLO_F64) rnn_functions(l);
    }
}

const ora_row ora_rows_rnn[] = {
    {"GRU", rnn_row, NULL},
    {"LSTM", rnn_row, NULL},
    {"RNN", rnn_row, NULL},
    {NULL, NULL, NULL},
};

static void rnn_rows(void)
{
    ora_run(ora_rows_rnn);
}

const hg_test_case hg_tests_oracle_rnn[] = {{"rows", rnn_rows}, {0}};
