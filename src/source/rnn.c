/* rnn.c - the kernels "rnn", "gru" and "lstm" as loops: a sequence after the other, in double, each
 * product in sixteen lanes that meet in a tree. A direction is written for itself: its activations
 * may be others. */
#include "kernel/rnn.h"
#include "source/source.h"

#include <inttypes.h>

typedef struct rnn_form {
    hg_rnn_shape shape;
    int64_t direction, functions; /* functions: where those of the direction begin in param */
    double clip;
    const hg_args *args;
} rnn_form;

/* ---- activations -------------------------------------------------------------------------- */

static const char *rnn_need(hg_source *s, const char *function)
{
    hg_source_need(s, function);
    return function;
}

/* `out` is the function of the number in variable v. */
static void rnn_activate(hg_source *s, const rnn_form *f, int which, const char *v, hg_ctext *out)
{
    const uint32_t at = (uint32_t)(f->functions + which * HG_RNN_FUNCTION_PARAMS);
    const hg_rnn_activation kind = (hg_rnn_activation)f->args->param[at];
    hg_ctext alpha, beta;
    hg_source_f64(&alpha, hg_param_f64(f->args, at + 1));
    hg_source_f64(&beta, hg_param_f64(f->args, at + 2));
    switch (kind) {
    case HG_RNN_RELU: hg_ctext_set(out, "%s < 0.0 ? 0.0 : %s", v, v); return;
    case HG_RNN_TANH: hg_ctext_set(out, "%s(%s)", rnn_need(s, "hg_tanh_f64"), v); return;
    case HG_RNN_SIGMOID: hg_ctext_set(out, "%s(%s)", rnn_need(s, "hg_sigmoid_f64"), v); return;
    case HG_RNN_AFFINE: hg_ctext_set(out, "%s * %s + %s", alpha.text, v, beta.text); return;
    case HG_RNN_LEAKY_RELU:
        hg_ctext_set(out, "%s < 0.0 ? %s * %s : %s", v, alpha.text, v, v);
        return;
    case HG_RNN_THRESHOLDED_RELU: hg_ctext_set(out, "%s < %s ? 0.0 : %s", v, alpha.text, v); return;
    case HG_RNN_SCALED_TANH:
        hg_ctext_set(out, "%s * %s(%s * %s)", alpha.text, rnn_need(s, "hg_tanh_f64"), beta.text, v);
        return;
    case HG_RNN_HARD_SIGMOID:
        hg_ctext_set(out, "%s * %s + %s < 0.0 ? 0.0 : %s * %s + %s > 1.0 ? 1.0 : %s * %s + %s",
                     alpha.text, v, beta.text, alpha.text, v, beta.text, alpha.text, v, beta.text);
        return;
    case HG_RNN_ELU:
        hg_ctext_set(out, "%s < 0.0 ? %s * %s(%s) : %s", v, alpha.text, rnn_need(s, "hg_expm1_f64"),
                     v, v);
        return;
    case HG_RNN_SOFTSIGN:
        hg_ctext_set(out, "%s / (1.0 + %s(%s))", v, rnn_need(s, "hg_abs_f64"), v);
        return;
    case HG_RNN_SOFTPLUS:
        (void)rnn_need(s, "hg_abs_f64"), (void)rnn_need(s, "hg_exp_f64");
        hg_ctext_set(out, "(%s > 0.0 ? %s : 0.0) + %s(hg_exp_f64(-hg_abs_f64(%s)))", v, v,
                     rnn_need(s, "hg_log1p_f64"), v);
        return;
    }
}

/* The function of `value`, which is cut off first, as a new variable. */
static void rnn_apply(hg_source *s, const rnn_form *f, int which, const char *name,
                      const char *value)
{
    hg_ctext clip, done;
    hg_ctext before;
    hg_ctext_set(&before, "%s_sum", name);
    hg_source_f64(&clip, f->clip);
    hg_source_line(s, f->clip > 0.0 ? "double %s = %s;" : "const double %s = %s;", before.text,
                   value);
    if (f->clip > 0.0)
        hg_source_line(s, "%s = %s < -%s ? -%s : %s > %s ? %s : %s;", before.text, before.text,
                       clip.text, clip.text, before.text, clip.text, clip.text, before.text);
    rnn_activate(s, f, which, before.text, &done);
    hg_source_line(s, "const double %s = %s;", name, done.text);
}

/* ---- products ----------------------------------------------------------------------------- */

/* name = row `row` of W (side 0) or R (side 1) times a vector, and its bias. */
static void rnn_product(hg_source *s, const rnn_form *f, int side, const char *name,
                        const char *row, const char *vector)
{
    const int64_t rows = f->shape.gates * f->shape.hidden;
    const int64_t n = side == 0 ? f->shape.input : f->shape.hidden;
    hg_ctext at, weight, bias = {{0}};
    hg_ctext_set(&at, "(%" PRId64 " + %s) * %" PRId64 " + k", f->direction * rows, row, n);
    hg_source_load(s, &weight, side == 0 ? HG_RNN_W : HG_RNN_R, at.text);
    if (hg_args_has(f->args, HG_RNN_B)) {
        hg_ctext_set(&at, "%" PRId64 " + %s", (f->direction * 2 + side) * rows, row);
        hg_source_load(s, &bias, HG_RNN_B, at.text);
    }
    hg_source_line(s, "double %s[16] = {0};", name);
    hg_source_line(s, "for (int32_t k = 0; k < %" PRId64 "; k++)", n);
    hg_source_line(s, "    %s[k %% 16] += (double)%s * %s[k];", name, weight.text, vector);
    hg_ctext_set(&at, "%s[l] += %s[l + w];", name, name);
    hg_source_tree(s, at.text);
    if (bias.text[0] != '\0') hg_source_line(s, "%s[0] += (double)%s;", name, bias.text);
}

/* gate[i] = W x + R h for rows [0, n). */
static void rnn_gates(hg_source *s, const rnn_form *f, int64_t n)
{
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", n);
    rnn_product(s, f, 0, "from_x", "i", "x");
    rnn_product(s, f, 1, "from_h", "i", "h");
    hg_source_line(s, "gate[i] = from_x[0] + from_h[0];");
    hg_source_close(s, 1);
}

/* ---- one step of a sequence --------------------------------------------------------------- */

static void rnn_step_plain(hg_source *s, const rnn_form *f)
{
    rnn_gates(s, f, f->shape.hidden);
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", f->shape.hidden);
    rnn_apply(s, f, 0, "next", "gate[i]");
    hg_source_line(s, "h[i] = next;");
    hg_source_close(s, 1);
}

static void rnn_step_gru(hg_source *s, const rnn_form *f)
{
    const int64_t n = f->shape.hidden;
    const bool is_linear = f->args->param[HG_RNN_PARAM_VARIANT] != 0;
    hg_ctext row, old;
    rnn_gates(s, f, 2 * n);
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", 2 * n);
    rnn_apply(s, f, 0, "opened", "gate[i]");
    hg_source_line(s, "gate[i] = opened;");
    hg_source_close(s, 1);
    if (!is_linear) {
        hg_source_line(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", n);
        hg_source_line(s, "    kept[i] = gate[%" PRId64 " + i] * h[i];", n);
    }
    hg_ctext_set(&row, "%" PRId64 " + i", 2 * n);
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", n);
    rnn_product(s, f, 0, "from_x", row.text, "x");
    rnn_product(s, f, 1, "from_h", row.text, is_linear ? "h" : "kept");
    hg_ctext_set(
        &old, is_linear ? "from_x[0] + gate[%" PRId64 " + i] * from_h[0]" : "from_x[0] + from_h[0]",
        n);
    rnn_apply(s, f, 1, "next", old.text);
    hg_source_line(s, "gate[%" PRId64 " + i] = next;", 2 * n);
    hg_source_close(s, 1);
    hg_source_line(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", n);
    hg_source_line(s, "    h[i] = (1.0 - gate[i]) * gate[%" PRId64 " + i] + gate[i] * h[i];",
                   2 * n);
}

/* `sum` gains peephole weight k (i, o, f) times the cell. */
static void rnn_peephole(hg_source *s, const rnn_form *f, int64_t k, const char *sum)
{
    hg_ctext at, weight;
    if (!hg_args_has(f->args, HG_RNN_P)) return;
    hg_ctext_set(&at, "%" PRId64 " + i", (f->direction * 3 + k) * f->shape.hidden);
    hg_source_load(s, &weight, HG_RNN_P, at.text);
    hg_source_line(s, "%s += (double)%s * c[i];", sum, weight.text);
}

static void rnn_step_lstm(hg_source *s, const rnn_form *f)
{
    const int64_t n = f->shape.hidden;
    const bool is_coupled = f->args->param[HG_RNN_PARAM_VARIANT] != 0;
    rnn_gates(s, f, 4 * n);
    hg_source_open(s, "for (int32_t i = 0; i < %" PRId64 "; i++)", n);
    hg_source_line(s, "double *in = &gate[i], *out = &gate[%" PRId64 " + i];", n);
    rnn_peephole(s, f, 0, "*in");
    rnn_apply(s, f, 0, "take", "*in");
    if (is_coupled) {
        hg_source_line(s, "const double keep = 1.0 - take;");
    } else {
        hg_source_line(s, "double *forget = &gate[%" PRId64 " + i];", 2 * n);
        rnn_peephole(s, f, 2, "*forget");
        rnn_apply(s, f, 0, "keep", "*forget");
    }
    hg_ctext cell;
    hg_ctext_set(&cell, "gate[%" PRId64 " + i]", 3 * n);
    rnn_apply(s, f, 1, "cell", cell.text);
    hg_source_line(s, "c[i] = keep * c[i] + take * cell;");
    rnn_peephole(s, f, 1, "*out");
    rnn_apply(s, f, 0, "give", "*out");
    rnn_apply(s, f, 2, "shown", "c[i]");
    hg_source_line(s, "h[i] = give * shown;");
    hg_source_close(s, 1);
}

/* ---- sequences ---------------------------------------------------------------------------- */

/* to[k] = element `at` + k of an input, or 0. */
static void rnn_load(hg_source *s, const rnn_form *f, uint32_t i, const char *to, const char *at,
                     int64_t n)
{
    hg_ctext index, value = {"0"};
    hg_ctext_set(&index, "%s + k", at);
    if (hg_args_has(f->args, i)) hg_source_load(s, &value, i, index.text);
    hg_source_line(s, "for (int32_t k = 0; k < %" PRId64 "; k++)", n);
    hg_source_line(s, "    %s[k] = %s;", to, value.text);
}

static void rnn_store(hg_source *s, const rnn_form *f, uint32_t j, const char *from, const char *at)
{
    if (j >= f->args->n_out || f->args->out[j].dtype == HOLO_NONE) return;
    hg_source_line(s, "for (int32_t k = 0; k < %" PRId64 "; k++)", f->shape.hidden);
    hg_source_line(s, "    y%" PRIu32 "[%s + k] = (%s)%s;", j, at,
                   hg_source_ctype(f->args->out[j].dtype), from);
}

/* Where a step's input and result begin, for step t of sample n. */
static void rnn_places(const rnn_form *f, hg_ctext *x, hg_ctext *y, hg_ctext *state)
{
    const hg_rnn_shape *r = &f->shape;
    const char *n = r->batch == 1 ? "0" : "n";
    if (r->batch_first) {
        hg_ctext_set(x, "(%s * %" PRId64 " + t) * %" PRId64, n, r->steps, r->input);
        hg_ctext_set(y, "((%s * %" PRId64 " + t) * %" PRId64 " + %" PRId64 ") * %" PRId64, n,
                     r->steps, r->directions, f->direction, r->hidden);
        hg_ctext_set(state, "(%s * %" PRId64 " + %" PRId64 ") * %" PRId64, n, r->directions,
                     f->direction, r->hidden);
    } else {
        hg_ctext_set(x, "(t * %" PRId64 " + %s) * %" PRId64, r->batch, n, r->input);
        hg_ctext_set(y, "((t * %" PRId64 " + %" PRId64 ") * %" PRId64 " + %s) * %" PRId64,
                     r->directions, f->direction, r->batch, n, r->hidden);
        hg_ctext_set(state, "(%" PRId64 " + %s) * %" PRId64, f->direction * r->batch, n, r->hidden);
    }
}

static void rnn_length(hg_source *s, const rnn_form *f)
{
    hg_ctext length;
    if (!hg_args_has(f->args, HG_RNN_LENGTHS)) {
        hg_source_line(s, "const int32_t length = %" PRId64 ";", f->shape.steps);
        return;
    }
    s->faults[s->step] = 1;
    hg_source_load(s, &length, HG_RNN_LENGTHS, f->shape.batch == 1 ? "0" : "n");
    hg_source_line(s, "const int32_t length = %s;", length.text);
    hg_source_line(s, "if (length < 0 || length > %" PRId64 ") return 1;", f->shape.steps);
}

static void rnn_direction(hg_source *s, const rnn_form *f)
{
    const bool is_lstm = f->shape.kind == HG_RNN_LSTM;
    const bool is_backward = hg_rnn_is_backward(f->args, f->direction);
    hg_ctext x, y, state;
    rnn_places(f, &x, &y, &state);
    int levels = hg_source_for(s, "n", f->shape.batch);
    if (levels == 0) hg_source_line(s, "{");
    if (levels == 0) s->depth++;
    rnn_length(s, f);
    rnn_load(s, f, HG_RNN_H0, "h", state.text, f->shape.hidden);
    if (is_lstm) rnn_load(s, f, HG_RNN_C0, "c", state.text, f->shape.hidden);
    hg_source_open(s, "for (int32_t done = 0; done < length; done++)");
    hg_source_line(s, "const int32_t t = %s;", is_backward ? "length - 1 - done" : "done");
    rnn_load(s, f, HG_RNN_X, "x", x.text, f->shape.input);
    if (f->shape.kind == HG_RNN_PLAIN) rnn_step_plain(s, f);
    if (f->shape.kind == HG_RNN_GRU) rnn_step_gru(s, f);
    if (is_lstm) rnn_step_lstm(s, f);
    rnn_store(s, f, HG_RNN_Y, "h[k]", y.text);
    hg_source_close(s, 1);
    if (hg_args_has(f->args, HG_RNN_LENGTHS) && f->args->out[HG_RNN_Y].dtype != HOLO_NONE) {
        hg_source_open(s, "for (int32_t t = length; t < %" PRId64 "; t++)", f->shape.steps);
        rnn_store(s, f, HG_RNN_Y, "0", y.text);
        hg_source_close(s, 1);
    }
    rnn_store(s, f, HG_RNN_Y_H, "h[k]", state.text);
    if (is_lstm) rnn_store(s, f, HG_RNN_Y_C, "c[k]", state.text);
    hg_source_close(s, 1);
}

static bool rnn_write(hg_source *s, const hg_args *a, hg_rnn_kind kind)
{
    rnn_form f = {
        .shape = hg_rnn_shape_of(a, kind), .clip = hg_param_f64(a, HG_RNN_PARAM_CLIP), .args = a};
    const hg_rnn_shape *r = &f.shape;
    if (a->in[0].dtype != HOLO_F32 && a->in[0].dtype != HOLO_F64)
        return hg_source_refuse(s, "type %s", holo_dtype_text(a->in[0].dtype));
    if (r->input == 0) return hg_source_refuse(s, "inputs without elements");
    hg_source_line(s, "static double h[%" PRId64 "], x[%" PRId64 "], gate[%" PRId64 "];", r->hidden,
                   r->input, r->gates * r->hidden);
    if (kind == HG_RNN_LSTM) hg_source_line(s, "static double c[%" PRId64 "];", r->hidden);
    if (kind == HG_RNN_GRU && a->param[HG_RNN_PARAM_VARIANT] == 0)
        hg_source_line(s, "static double kept[%" PRId64 "];", r->hidden);
    for (f.direction = 0; f.direction < r->directions; f.direction++) {
        f.functions =
            HG_RNN_PARAM_FUNCTIONS + f.direction * hg_rnn_functions(kind) * HG_RNN_FUNCTION_PARAMS;
        rnn_direction(s, &f);
    }
    return true;
}

static bool plain_write(hg_source *s, const hg_args *a)
{
    return rnn_write(s, a, HG_RNN_PLAIN);
}

static bool gru_write(hg_source *s, const hg_args *a)
{
    return rnn_write(s, a, HG_RNN_GRU);
}

static bool lstm_write(hg_source *s, const hg_args *a)
{
    return rnn_write(s, a, HG_RNN_LSTM);
}

const hg_source_kernel hg_source_kernels_rnn[] = {
    {"gru", gru_write},
    {"lstm", lstm_write},
    {"rnn", plain_write},
    {0},
};
