/* op_rnn.c - what RNN, GRU and LSTM share. */
#include "op/op_rnn.h"

#include "op/op_window.h"

const hg_rnn_form hg_rnn_form_plain = {.gates = 1, .activation = {"Tanh"}};
const hg_rnn_form hg_rnn_form_gru = {
    .gates = 3, .activation = {"Sigmoid", "Tanh"}, .variant = "linear_before_reset"};
const hg_rnn_form hg_rnn_form_lstm = {
    .gates = 4, .activation = {"Sigmoid", "Tanh", "Tanh"}, .variant = "input_forget"};

/* Names as in the standard, in the order of hg_rnn_activation; alpha and beta that apply when the
 * lists of the node are used up, and whether the function takes them from there. */
static const struct {
    const char *name;
    double alpha, beta;
    bool has_alpha, has_beta;
} rnn_known[] = {
    {"Relu", 0.0, 0.0, false, false},      {"Tanh", 0.0, 0.0, false, false},
    {"Sigmoid", 0.0, 0.0, false, false},   {"Affine", 1.0, 0.0, true, true},
    {"LeakyRelu", 0.01, 0.0, true, false}, {"ThresholdedRelu", 1.0, 0.0, true, false},
    {"ScaledTanh", 1.0, 1.0, true, true},  {"HardSigmoid", 0.2, 0.5, true, true},
    {"Elu", 1.0, 0.0, true, false},        {"Softsign", 0.0, 0.0, false, false},
    {"Softplus", 0.0, 0.0, false, false},
};

static int rnn_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Names are compared without case: exporters do not agree on it. */
static bool rnn_same_name(hg_str text, const char *name)
{
    if (text.length != strlen(name)) return false;
    for (size_t i = 0; i < text.length; i++)
        if (rnn_lower(text.text[i]) != rnn_lower(name[i])) return false;
    return true;
}

holo_status hg_rnn_direction(const hg_infer *n, int64_t *out)
{
    static const char *const name[] = {"forward", "reverse", "bidirectional"};
    hg_str text;
    HG_TRY(hg_attr_string(n, "direction", "forward", &text));
    for (*out = 0; *out < (int64_t)HG_COUNT(name); ++*out)
        if (rnn_same_name(text, name[*out])) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL,
                         "direction is \"%.*s\", expected forward, reverse or bidirectional",
                         HG_STR_ARG(text));
}

/* The next number of a list attribute, or the standard one. */
static double rnn_take(const hg_attr *list, size_t *at, bool wanted, double standard)
{
    if (!wanted || list == NULL || list->kind != HG_ATTR_FLOATS || *at >= list->count)
        return standard;
    return (double)list->floats[(*at)++];
}

/* Functions of all directions into out[]; *count of them. */
holo_status hg_rnn_activations(const hg_infer *n, const hg_rnn_form *form, int64_t directions,
                               hg_rnn_function *out, uint32_t *count)
{
    const hg_attr *names = hg_node_attr(n->node, "activations");
    const hg_attr *alpha = hg_node_attr(n->node, "activation_alpha");
    const hg_attr *beta = hg_node_attr(n->node, "activation_beta");
    uint32_t each = 0;
    size_t at_alpha = 0, at_beta = 0;
    while (each < 3 && form->activation[each] != NULL)
        each++;
    *count = each * (uint32_t)directions;
    if (names != NULL && (names->kind != HG_ATTR_STRINGS || names->count < *count))
        return hg_infer_fail(n, HOLO_E_MODEL, "activations has %zu entries, expected %u",
                             names->count, *count);
    for (uint32_t i = 0; i < *count; i++) {
        hg_str text = names == NULL ? hg_str_from(form->activation[i % each]) : names->strings[i];
        size_t k = 0;
        while (k < HG_COUNT(rnn_known) && !rnn_same_name(text, rnn_known[k].name))
            k++;
        if (k == HG_COUNT(rnn_known))
            return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "activation \"%.*s\" is not known",
                                 HG_STR_ARG(text));
        out[i].kind = (int64_t)k;
        out[i].alpha = rnn_take(alpha, &at_alpha, rnn_known[k].has_alpha, rnn_known[k].alpha);
        out[i].beta = rnn_take(beta, &at_beta, rnn_known[k].has_beta, rnn_known[k].beta);
    }
    return HOLO_OK;
}

static holo_status rnn_check_inputs(const hg_infer *n, const hg_rnn_form *form, hg_dim hidden)
{
    hg_dims *d = n->dims;
    int64_t stated;
    HG_TRY(hg_attr_int(n, "hidden_size", 0, &stated));
    if (stated != 0 && !hg_infer_equal(n, hidden, hg_dim_const(d, stated)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "hidden_size is %lld, which R does not have",
                             (long long)stated);
    hg_dim rows = hg_dim_mul(d, hidden, hg_dim_const(d, form->gates));
    if (!hg_infer_equal(n, n->in[1]->dim[1], rows) || !hg_infer_equal(n, n->in[2]->dim[1], rows))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "W and R do not have %lld rows for each hidden element",
                             (long long)form->gates);
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (!hg_infer_has(n, i)) continue;
        if (i == 4)
            HG_TRY(hg_infer_types(n, i, HG_TYPE_BIT(HOLO_I32)));
        else
            HG_TRY(hg_infer_same_type(n, 0, i));
        int rank = i == 4 ? 1 : i == 3 || i == 7 ? 2 : 3;
        HG_TRY(hg_infer_rank(n, i, rank, rank));
    }
    return HOLO_OK;
}

holo_status hg_rnn_infer_outs(hg_infer *n, const hg_rnn_form *form, hg_dim hidden)
{
    int64_t direction, layout, variant;
    double clip;
    hg_rnn_function function[HG_RNN_MAX_FUNCTION] = {{0}};
    uint32_t count = 0;
    HG_TRY(hg_rnn_direction(n, &direction));
    HG_TRY(hg_attr_int(n, "layout", 0, &layout));
    HG_TRY(hg_attr_float(n, "clip", 0.0, &clip));
    if (form->variant != NULL) HG_TRY(hg_attr_int(n, form->variant, 0, &variant));
    const int64_t directions = direction == HG_RNN_BIDIRECTIONAL ? 2 : 1;
    HG_TRY(hg_rnn_activations(n, form, directions, function, &count));
    const hg_dim both = hg_dim_const(n->dims, directions);
    hg_dim steps = n->in[0]->dim[layout != 0], batch = n->in[0]->dim[layout == 0];
    holo_dtype dtype = n->in[0]->dtype;
    n->out[0] = layout == 0
                    ? (hg_type){.dtype = dtype, .rank = 4, .dim = {steps, both, batch, hidden}}
                    : (hg_type){.dtype = dtype, .rank = 4, .dim = {batch, steps, both, hidden}};
    for (uint32_t j = 1; j < n->n_out; j++)
        n->out[j] = layout == 0
                        ? (hg_type){.dtype = dtype, .rank = 3, .dim = {both, batch, hidden}}
                        : (hg_type){.dtype = dtype, .rank = 3, .dim = {batch, both, hidden}};
    return HOLO_OK;
}

holo_status hg_rnn_infer(hg_infer *n, const hg_rnn_form *form)
{
    for (uint32_t i = 0; i < 3; i++)
        HG_TRY(hg_infer_rank(n, i, 3, 3));
    HG_TRY(rnn_check_inputs(n, form, n->in[2]->dim[2]));
    return hg_rnn_infer_outs(n, form, n->in[2]->dim[2]);
}

holo_status hg_rnn_emit(hg_emit *e, const hg_rnn_form *form)
{
    hg_infer n = hg_emit_reader(e);
    int64_t direction;
    hg_rnn_function function[HG_RNN_MAX_FUNCTION] = {{0}};
    uint32_t count = 0;
    HG_TRY(hg_rnn_direction(&n, &direction));
    HG_TRY(
        hg_rnn_activations(&n, form, direction == HG_RNN_BIDIRECTIONAL ? 2 : 1, function, &count));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "layout", 0) != 0));
    HG_TRY(hg_emit_int(e, direction));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "clip", 0.0)));
    HG_TRY(hg_emit_int(e, form->variant != NULL && hg_node_int(e->node, form->variant, 0) != 0));
    for (uint32_t i = 0; i < count; i++) {
        HG_TRY(hg_emit_int(e, function[i].kind));
        HG_TRY(hg_emit_float(e, function[i].alpha));
        HG_TRY(hg_emit_float(e, function[i].beta));
    }
    return HOLO_OK;
}
