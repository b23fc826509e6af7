/* op_rnn_gradient.c - derivatives of RNN, GRU and LSTM: step by step as products, sums and
 * functions, whose derivatives are known. The number of steps must be. */
#include "op/op_gradient.h"
#include "op/op_rnn.h"

enum { RNN_MAX_STEPS = 1024 };

typedef struct rnn_unroll {
    hg_gradient *d;
    hg_build *b;
    hg_rnn_kind kind;
    hg_rnn_function function[HG_RNN_MAX_FUNCTION];
    int64_t steps, direction, directions;
    hg_dim hidden;
    hg_type state; /* [batch, hidden] */
    double clip;
    bool batch_first, variant;
    hg_value_id x, lengths; /* [steps, batch, input]; [batch, 1] int64 or 0 */
} rnn_unroll;

/* What one direction needs, and its state. */
typedef struct rnn_cell {
    const hg_rnn_function *function;
    hg_value_id r, r_bias, p[3]; /* [hidden, gates hidden]; [gates hidden]; peepholes, or 0 */
    hg_value_id h, c;            /* [batch, hidden] */
} rnn_cell;

static hg_value_id rnn_at(hg_build *b, hg_value_id x, int64_t i)
{
    return x == 0 ? 0 : hg_build_2(b, "Gather", x, hg_build_scalar(b, HOLO_I64, (double)i));
}

/* Gate `k` of a row of gates. */
static hg_value_id rnn_gate(const rnn_unroll *u, hg_value_id x, int64_t axis, int64_t k)
{
    hg_dims *d = &u->b->g->dims;
    return x == 0 ? 0
                  : hg_build_part(u->b, x, axis, hg_dim_mul(d, u->hidden, hg_dim_const(d, k)),
                                  hg_dim_mul(d, u->hidden, hg_dim_const(d, k + 1)));
}

static hg_value_id rnn_sum(hg_build *b, hg_value_id x, hg_value_id y)
{
    return x == 0 ? y : y == 0 ? x : hg_build_2(b, "Add", x, y);
}

static hg_value_id rnn_swapped(hg_build *b, hg_value_id x, const int64_t *order, uint32_t rank)
{
    const hg_attr perm = hg_attr_make_ints(b, "perm", order, rank);
    return hg_build_op(b, "Transpose", &x, 1, &perm, 1);
}

static hg_value_id rnn_apply(const rnn_unroll *u, const hg_rnn_function *f, hg_value_id x)
{
    static const char *const name[] = {
        [HG_RNN_RELU] = "Relu",         [HG_RNN_TANH] = "Tanh",
        [HG_RNN_SIGMOID] = "Sigmoid",   [HG_RNN_LEAKY_RELU] = "LeakyRelu",
        [HG_RNN_ELU] = "Elu",           [HG_RNN_THRESHOLDED_RELU] = "ThresholdedRelu",
        [HG_RNN_SOFTSIGN] = "Softsign", [HG_RNN_HARD_SIGMOID] = "HardSigmoid",
        [HG_RNN_SOFTPLUS] = "Softplus"};
    hg_build *b = u->b;
    const holo_dtype t = u->state.dtype;
    const hg_attr attr[] = {hg_attr_make_float("alpha", f->alpha),
                            hg_attr_make_float("beta", f->beta)};
    if (u->clip > 0) {
        x = hg_build_2(b, "Min", x, hg_build_scalar(b, t, u->clip));
        x = hg_build_2(b, "Max", x, hg_build_scalar(b, t, -u->clip));
    }
    if (f->kind == HG_RNN_SCALED_TANH)
        x = hg_build_1(b, "Tanh", hg_build_2(b, "Mul", x, hg_build_scalar(b, t, f->beta)));
    if (f->kind == HG_RNN_SCALED_TANH || f->kind == HG_RNN_AFFINE)
        x = hg_build_2(b, "Mul", x, hg_build_scalar(b, t, f->alpha));
    if (f->kind == HG_RNN_AFFINE) x = hg_build_2(b, "Add", x, hg_build_scalar(b, t, f->beta));
    if (f->kind == HG_RNN_SCALED_TANH || f->kind == HG_RNN_AFFINE) return x;
    const bool has_alpha = f->kind >= HG_RNN_LEAKY_RELU && f->kind <= HG_RNN_ELU;
    return hg_build_op(b, name[f->kind], &x, 1, attr,
                       f->kind == HG_RNN_HARD_SIGMOID ? 2
                       : has_alpha                    ? 1
                                                      : 0);
}

/* ---- one step: `g` is what the input gives to the gates, [batch, gates hidden] ----------------
 */

static void rnn_step_gru(const rnn_unroll *u, rnn_cell *c, hg_value_id g, hg_value_id *h)
{
    hg_build *b = u->b;
    hg_value_id by_h = rnn_sum(b, hg_build_2(b, "MatMul", c->h, c->r), c->r_bias), gate[2], last;
    for (int64_t k = 0; k < 2; k++)
        gate[k] = rnn_apply(u, &c->function[0],
                            rnn_sum(b, rnn_gate(u, g, 1, k), rnn_gate(u, by_h, 1, k)));
    if (u->variant) { /* linear_before_reset */
        last = hg_build_2(b, "Mul", gate[1], rnn_gate(u, by_h, 1, 2));
    } else {
        hg_value_id kept = hg_build_2(b, "Mul", gate[1], c->h);
        last = hg_build_2(b, "MatMul", kept, rnn_gate(u, c->r, 1, 2));
        last = rnn_sum(b, last, rnn_gate(u, c->r_bias, 0, 2));
    }
    hg_value_id now = rnn_apply(u, &c->function[1], rnn_sum(b, rnn_gate(u, g, 1, 2), last));
    hg_value_id old = hg_build_2(b, "Mul", gate[0], hg_build_2(b, "Sub", c->h, now));
    *h = hg_build_2(b, "Add", now, old); /* (1 - z) now + z h */
}

static hg_value_id rnn_peep(const rnn_unroll *u, const rnn_cell *c, int k, hg_value_id state)
{
    return c->p[k] == 0 ? 0 : hg_build_2(u->b, "Mul", c->p[k], state);
}

/* Gates are input, output, forget, cell; peepholes input, output, forget. */
static void rnn_step_lstm(const rnn_unroll *u, rnn_cell *c, hg_value_id g, hg_value_id *h,
                          hg_value_id *state)
{
    hg_build *b = u->b;
    g = rnn_sum(b, rnn_sum(b, g, hg_build_2(b, "MatMul", c->h, c->r)), c->r_bias);
    hg_value_id in =
        rnn_apply(u, &c->function[0], rnn_sum(b, rnn_gate(u, g, 1, 0), rnn_peep(u, c, 0, c->c)));
    hg_value_id forget =
        rnn_apply(u, &c->function[0], rnn_sum(b, rnn_gate(u, g, 1, 2), rnn_peep(u, c, 2, c->c)));
    if (u->variant) /* input_forget */
        forget = hg_build_2(b, "Sub", hg_build_scalar(b, u->state.dtype, 1.0), in);
    hg_value_id cell = rnn_apply(u, &c->function[1], rnn_gate(u, g, 1, 3));
    *state =
        hg_build_2(b, "Add", hg_build_2(b, "Mul", forget, c->c), hg_build_2(b, "Mul", in, cell));
    hg_value_id out =
        rnn_apply(u, &c->function[0], rnn_sum(b, rnn_gate(u, g, 1, 1), rnn_peep(u, c, 1, *state)));
    rnn_unroll plain = *u;
    plain.clip = 0; /* the state itself is not limited */
    *h = hg_build_2(b, "Mul", out, rnn_apply(&plain, &c->function[2], *state));
}

/* Row `step` of the result, [batch, hidden]; sequences that have ended keep their state. */
static hg_value_id rnn_step(const rnn_unroll *u, rnn_cell *c, hg_value_id gates, int64_t step)
{
    hg_build *b = u->b;
    hg_value_id g = rnn_at(b, gates, step), h = 0, state = 0;
    if (u->kind == HG_RNN_GRU) {
        rnn_step_gru(u, c, g, &h);
    } else if (u->kind == HG_RNN_LSTM) {
        rnn_step_lstm(u, c, g, &h, &state);
    } else {
        g = rnn_sum(b, rnn_sum(b, g, hg_build_2(b, "MatMul", c->h, c->r)), c->r_bias);
        h = rnn_apply(u, &c->function[0], g);
    }
    if (u->lengths == 0) {
        c->h = h;
        c->c = state;
        return h;
    }
    hg_value_id lasts =
        hg_build_2(b, "Greater", u->lengths, hg_build_scalar(b, HOLO_I64, (double)step));
    c->h = hg_build_3(b, "Where", lasts, h, c->h);
    if (state != 0) c->c = hg_build_3(b, "Where", lasts, state, c->c);
    return hg_build_3(b, "Where", lasts, h, hg_build_scalar(b, u->state.dtype, 0.0));
}

/* ---- all steps -------------------------------------------------------------------------------
 */

/* A state at the beginning, [batch, hidden]. */
static hg_value_id rnn_first(const rnn_unroll *u, uint32_t input, int64_t k)
{
    const hg_node *n = hg_gradient_node(u->d);
    hg_value_id x = input < n->n_in ? hg_gradient_input(u->d, input) : 0;
    if (x == 0) return hg_build_full(u->b, &u->state, 0.0);
    if (u->batch_first) x = rnn_swapped(u->b, x, (int64_t[]){1, 0, 2}, 3);
    return rnn_at(u->b, x, k);
}

static void rnn_begin(const rnn_unroll *u, int64_t k, rnn_cell *c, hg_value_id *gates)
{
    hg_build *b = u->b;
    hg_dims *d = &b->g->dims;
    const int64_t swap[] = {1, 0};
    const hg_node *n = hg_gradient_node(u->d);
    const uint32_t n_in = n->n_in;
    const hg_value_id bias = n_in > HG_RNN_B ? hg_gradient_input(u->d, HG_RNN_B) : 0;
    const hg_value_id peep = n_in > HG_RNN_P ? hg_gradient_input(u->d, HG_RNN_P) : 0;
    hg_value_id w = rnn_swapped(b, rnn_at(b, hg_gradient_input(u->d, HG_RNN_W), k), swap, 2);
    c->r = rnn_swapped(b, rnn_at(b, hg_gradient_input(u->d, HG_RNN_R), k), swap, 2);
    *gates = hg_build_2(b, "MatMul", u->x, w);
    if (bias != 0) {
        hg_value_id both = rnn_at(b, bias, k);
        hg_dim half = hg_dim_mul(d, u->hidden,
                                 hg_dim_const(d, u->kind == HG_RNN_LSTM  ? 4
                                                 : u->kind == HG_RNN_GRU ? 3
                                                                         : 1));
        *gates = hg_build_2(b, "Add", *gates, hg_build_part(b, both, 0, hg_dim_const(d, 0), half));
        c->r_bias = hg_build_part(b, both, 0, half, hg_dim_add(d, half, half));
    }
    for (int64_t i = 0; i < 3 && peep != 0; i++)
        c->p[i] = rnn_gate(u, rnn_at(b, peep, k), 0, i);
    c->function = &u->function[k * hg_rnn_functions(u->kind)];
    c->h = rnn_first(u, HG_RNN_H0, k);
    if (u->kind == HG_RNN_LSTM) c->c = rnn_first(u, HG_RNN_C0, k);
}

/* The list stacked along a new axis. */
static hg_value_id rnn_stack(hg_build *b, hg_value_id *list, uint32_t count, int64_t at)
{
    const hg_attr axis = hg_attr_make_int("axis", at);
    hg_value_id axes = hg_build_ints(b, &at, 1);
    for (uint32_t i = 0; i < count; i++)
        list[i] = hg_build_2(b, "Unsqueeze", list[i], axes);
    return hg_build_op(b, "Concat", list, count, &axis, 1);
}

static holo_status rnn_unrolled(const rnn_unroll *u, hg_value_id out[3])
{
    hg_build *b = u->b;
    hg_value_id y[2], h[2], c[2] = {0}, *row;
    HG_TRY(HG_NEW(b->ctx, (size_t)u->steps + 1, &row));
    for (int64_t k = 0; k < u->directions; k++) {
        rnn_cell cell = {0};
        hg_value_id gates;
        const bool backward = k == 1 || u->direction == HG_RNN_REVERSE;
        rnn_begin(u, k, &cell, &gates);
        for (int64_t i = 0; i < u->steps && b->status == HOLO_OK; i++) {
            const int64_t step = backward ? u->steps - 1 - i : i;
            row[step] = rnn_step(u, &cell, gates, step);
        }
        y[k] = rnn_stack(b, row, (uint32_t)u->steps, 0);
        h[k] = cell.h;
        c[k] = cell.c;
    }
    out[0] = rnn_stack(b, y, (uint32_t)u->directions, 1);
    out[1] = rnn_stack(b, h, (uint32_t)u->directions, 0);
    if (c[0] != 0) out[2] = rnn_stack(b, c, (uint32_t)u->directions, 0);
    if (u->batch_first) {
        out[0] = rnn_swapped(b, out[0], (int64_t[]){2, 0, 1, 3}, 4);
        for (int j = 1; j < 3 && out[j] != 0; j++)
            out[j] = rnn_swapped(b, out[j], (int64_t[]){1, 0, 2}, 3);
    }
    return b->status;
}

holo_status hg_rnn_gradient(hg_gradient *d, const hg_rnn_form *form)
{
    const hg_node *n = hg_gradient_node(d);
    const hg_infer reader = hg_gradient_reader(d);
    const hg_type *x = hg_gradient_type(d, HG_RNN_X);
    rnn_unroll u = {.d = d,
                    .b = d->b,
                    .kind = form->gates == 4   ? HG_RNN_LSTM
                            : form->gates == 3 ? HG_RNN_GRU
                                               : HG_RNN_PLAIN,
                    .hidden = hg_gradient_type(d, HG_RNN_R)->dim[2],
                    .clip = hg_node_float(n, "clip", 0.0),
                    .batch_first = hg_node_int(n, "layout", 0) != 0,
                    .variant = form->variant != NULL && hg_node_int(n, form->variant, 0) != 0,
                    .x = hg_gradient_input(d, HG_RNN_X)};
    const hg_value_id lengths = n->n_in > HG_RNN_LENGTHS ? hg_gradient_input(d, HG_RNN_LENGTHS) : 0;
    const hg_node_id begin = hg_gradient_begin(d);
    hg_value_id out[3] = {0};
    uint32_t count;
    HG_TRY(hg_rnn_direction(&reader, &u.direction));
    u.directions = u.direction == HG_RNN_BIDIRECTIONAL ? 2 : 1;
    HG_TRY(hg_rnn_activations(&reader, form, u.directions, u.function, &count));
    u.state = (hg_type){.dtype = x->dtype, .rank = 2, .dim = {x->dim[!u.batch_first], u.hidden}};
    if (!hg_dim_is_const(&d->b->g->dims, x->dim[u.batch_first], &u.steps) || u.steps < 1 ||
        u.steps > RNN_MAX_STEPS)
        return hg_gradient_fail(d, "the number of steps must be known and from 1 to %d",
                                RNN_MAX_STEPS);
    if (u.batch_first) u.x = rnn_swapped(d->b, u.x, (int64_t[]){1, 0, 2}, 3);
    if (lengths != 0)
        u.lengths = hg_build_2(d->b, "Unsqueeze", hg_build_cast(d->b, lengths, HOLO_I64),
                               hg_build_ints(d->b, (int64_t[]){1}, 1));
    HG_TRY(rnn_unrolled(&u, out));
    return hg_gradient_through(d, begin, out);
}
