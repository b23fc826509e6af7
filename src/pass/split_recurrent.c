/* split_recurrent.c - what the inputs of RNN, GRU and LSTM add to their gates does not depend on
 * the state: it is one product for all steps, which threads share and which reads W once, with the
 * biases behind it. Only R is left to the steps, in panels.
 *
 *     LSTM(x, W, R, B)  ->  Recur(x W' + b, R') */
#include "op/op_rnn.h"
#include "pass/pass.h"

typedef struct split_form {
    const hg_rnn_form *form;
    int64_t kind, directions, width, hidden, input; /* width: gate rows of a direction */
} split_form;

static const hg_const *split_constant(const hg_graph *g, hg_value_id v)
{
    if (v == 0 || !hg_graph_is_const(g, v)) return NULL;
    return hg_graph_value(g, v)->type.dtype == HOLO_F32 ? hg_graph_value(g, v)->constant : NULL;
}

static bool split_kind(const hg_node *n, split_form *f)
{
    static const struct {
        const char *op;
        const hg_rnn_form *form;
    } kinds[] = {
        {"RNN", &hg_rnn_form_plain}, {"GRU", &hg_rnn_form_gru}, {"LSTM", &hg_rnn_form_lstm}};
    for (f->kind = 0; f->kind <= HG_RNN_LSTM; f->kind++)
        if (hg_op_is(n, kinds[f->kind].op)) {
            f->form = kinds[f->kind].form;
            return true;
        }
    return false;
}

/* Weights are constants, the functions those of tuned kernels, and panels do not reach over the
 * directions. */
static holo_status split_read(hg_build *b, split_form *f, bool *wanted)
{
    hg_graph *g = b->g;
    const hg_node *n = b->node;
    const hg_value_id w = hg_node_in(g, n, HG_RNN_W), r = hg_node_in(g, n, HG_RNN_R);
    const hg_value_id bias = hg_node_in(g, n, HG_RNN_B);
    hg_infer reader;
    hg_rnn_function function[HG_RNN_MAX_FUNCTION] = {{0}};
    int64_t direction;
    uint32_t count = 0;
    *wanted = false;
    if (!split_kind(n, f)) return HOLO_OK;
    if (split_constant(g, w) == NULL || split_constant(g, r) == NULL) return HOLO_OK;
    if (bias != 0 && split_constant(g, bias) == NULL) return HOLO_OK;
    HG_TRY(hg_build_reader(b, &reader));
    HG_TRY(hg_rnn_direction(&reader, &direction));
    f->directions = direction == HG_RNN_BIDIRECTIONAL ? 2 : 1;
    HG_TRY(hg_rnn_activations(&reader, f->form, f->directions, function, &count));
    for (uint32_t i = 0; i < count; i++)
        if (function[i].kind > HG_RNN_SIGMOID) return HOLO_OK;
    if (!hg_dim_is_const(&g->dims, reader.in[HG_RNN_W]->dim[2], &f->input) ||
        !hg_dim_is_const(&g->dims, reader.in[HG_RNN_R]->dim[2], &f->hidden) || f->hidden == 0 ||
        f->input == 0)
        return HOLO_OK;
    f->width = f->form->gates * f->hidden;
    *wanted = f->directions == 1 || f->width % HG_PANEL == 0;
    return HOLO_OK;
}

/* A constant [D, G * H, k] in panels of 16 gate rows. */
static hg_value_id split_pack(hg_build *b, const split_form *f, hg_value_id from, int64_t k)
{
    hg_dims *d = &b->g->dims;
    const hg_const *t = hg_graph_value(b->g, from)->constant;
    const hg_type type = {.dtype = HOLO_F32,
                          .rank = 2,
                          .dim = {hg_dim_const(d, f->directions * f->width), hg_dim_const(d, k)}};
    const hg_attr trans = hg_attr_make_int("trans", 1);
    hg_value_id flat;
    if (b->status != HOLO_OK) return 0;
    b->status =
        hg_graph_add_const(b->g, hg_graph_value(b->g, from)->name, type, t->data, t->bytes, &flat);
    return hg_build_op(b, "holo:PackP16", &flat, 1, &trans, 1);
}

/* Whether a recurrent bias must wait for the reset gate. */
static bool split_waits(const hg_build *b, const split_form *f)
{
    return f->kind == HG_RNN_GRU && hg_node_int(b->node, f->form->variant, 0) != 0;
}

/* Biases of input and state together, [D * G * H]; 0 without. */
static hg_value_id split_bias(hg_build *b, const split_form *f)
{
    const hg_const *t = split_constant(b->g, hg_build_in(b, HG_RNN_B));
    const int64_t rows = f->directions * f->width;
    const hg_type type = {.dtype = HOLO_F32, .rank = 1, .dim = {hg_dim_const(&b->g->dims, rows)}};
    const int64_t both = split_waits(b, f) ? 2 * f->hidden : f->width;
    float *to;
    if (t == NULL || b->status != HOLO_OK) return 0;
    b->status = HG_NEW(b->ctx, (size_t)rows, &to);
    if (b->status != HOLO_OK) return 0;
    for (int64_t row = 0; row < rows; row++) {
        const float *of = (const float *)t->data + row / f->width * 2 * f->width;
        const int64_t i = row % f->width;
        to[row] = of[i] + (i < both ? of[f->width + i] : 0);
    }
    return hg_build_const(b, type, to, (size_t)rows * sizeof *to);
}

/* The recurrent bias of h, [D, H], where it has to wait; 0 otherwise. */
static hg_value_id split_late_bias(hg_build *b, const split_form *f)
{
    const hg_const *t = split_constant(b->g, hg_build_in(b, HG_RNN_B));
    hg_dims *d = &b->g->dims;
    const hg_type type = {.dtype = HOLO_F32,
                          .rank = 2,
                          .dim = {hg_dim_const(d, f->directions), hg_dim_const(d, f->hidden)}};
    const size_t count = (size_t)(f->directions * f->hidden);
    float *to;
    if (t == NULL || !split_waits(b, f) || b->status != HOLO_OK) return 0;
    b->status = HG_NEW(b->ctx, count, &to);
    if (b->status != HOLO_OK) return 0;
    for (int64_t k = 0; k < f->directions; k++)
        memcpy(to + k * f->hidden, (const float *)t->data + (k * 2 + 1) * f->width + 2 * f->hidden,
               (size_t)f->hidden * sizeof *to);
    return hg_build_const(b, type, to, count * sizeof *to);
}

/* x W' + b */
static hg_value_id split_inputs(hg_build *b, const split_form *f)
{
    const hg_dim columns = hg_dim_const(&b->g->dims, f->directions * f->width);
    const hg_value_id bias = split_bias(b, f);
    const hg_value_id in[2] = {hg_build_in(b, HG_RNN_X),
                               split_pack(b, f, hg_build_in(b, HG_RNN_W), f->input)};
    const hg_attr attr = hg_attr_make_dims(b, "n", &columns, 1);
    const hg_value_id product = hg_build_op(b, "holo:MatMulP16", in, 2, &attr, 1);
    return bias == 0 ? product : hg_build_2(b, "Add", product, bias);
}

static holo_status split_node(hg_graph *g, hg_node_id id, bool *changed)
{
    hg_build b;
    split_form f = {0};
    bool wanted;
    hg_build_init(&b, g, id);
    HG_TRY(split_read(&b, &f, &wanted));
    if (!wanted) return HOLO_OK;
    const hg_node *n = hg_graph_node(g, id);
    const uint32_t n_attr = n->n_attr, n_out = n->n_out;
    hg_attr *attr;
    HG_TRY(HG_NEW(g->ctx, n_attr + 1, &attr));
    if (n_attr != 0) memcpy(attr, n->attr, n_attr * sizeof *attr);
    attr[n_attr] = hg_attr_make_int("kind", f.kind);
    const hg_value_id in[7] = {
        split_inputs(&b, &f),       split_pack(&b, &f, hg_build_in(&b, HG_RNN_R), f.hidden),
        split_late_bias(&b, &f),    hg_build_in(&b, HG_RNN_LENGTHS),
        hg_build_in(&b, HG_RNN_H0), hg_build_in(&b, HG_RNN_C0),
        hg_build_in(&b, HG_RNN_P)};
    const uint32_t n_in = f.kind != HG_RNN_LSTM ? 5 : in[HG_RECUR_P] != 0 ? 7 : 6;
    const hg_node_id made = hg_build_node(&b, "holo:Recur", in, n_in, attr, n_attr + 1, n_out);
    for (uint32_t j = 0; made != 0 && j < n_out; j++)
        hg_build_replace(&b, j, hg_graph_node(g, made)->out[j]);
    if (b.status == HOLO_OK) hg_graph_remove_node(g, id);
    *changed = true;
    return b.status;
}

static holo_status split_run(hg_graph *g, bool *changed)
{
    if (g->ctx->numerics == HOLO_EXACT) return HOLO_OK; /* sums are rounded in between */
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0;) {
        const hg_node_id next = hg_graph_node(g, id)->next;
        split_form f;
        if (split_kind(hg_graph_node(g, id), &f)) HG_TRY(split_node(g, id, changed));
        id = next;
    }
    return HOLO_OK;
}

const hg_pass hg_pass_split_recurrent = {
    .name = "split_recurrent",
    .brief = "the inputs of a recurrent layer meet their weights in one product",
    .flags = HG_PASS_TUNED,
    .run = split_run,
};
