/* op_bias_act.c - asks kernel/epilogue.h what lane code does, with tensors of the right shapes
 * that nobody reads. */
#include "op/op_bias_act.h"

#include "kernel/epilogue.h"

const hg_bias_act_name hg_bias_act_number[HG_BIAS_ACT_NUMBERS] = {
    {"low", 0},   {"high", 0},  {"gate_scale", 0}, {"gate_shift", 0},
    {"scale", 1}, {"shift", 0}, {"factor", 1},     {"offset", 0}};

/* Addresses that tell operands apart. */
static const char bias_act_mark[HG_LANE_MAX_IO];

static bool bias_act_tensor(const hg_graph *g, hg_value_id v, uint32_t i, holo_tensor *out)
{
    const hg_type *t = &hg_graph_value(g, v)->type;
    *out = (holo_tensor){
        .data = (void *)(uintptr_t)&bias_act_mark[i], .rank = t->rank, .dtype = t->dtype};
    for (int32_t k = 0; k < t->rank; k++)
        if (!hg_dim_is_const(&g->dims, t->dim[k], &out->dim[k])) return false;
    return true;
}

/* Biases have one value for each channel, whatever the size of the map: a small one will do. */
static bool bias_act_args(const hg_graph *g, const hg_node *n, uint32_t own, holo_tensor *in,
                          holo_tensor *result)
{
    const hg_type *t = &hg_graph_value(g, n->out[0])->type;
    *result = (holo_tensor){.dim = {2, 3, 5, 0}, .rank = 4, .dtype = t->dtype};
    if (t->rank != 4 || n->n_in - own >= HG_LANE_MAX_IO ||
        !hg_dim_is_const(&g->dims, t->dim[3], &result->dim[3]))
        return false;
    for (uint32_t i = own; i < n->n_in; i++)
        if (!bias_act_tensor(g, hg_node_in(g, n, i), i - own, &in[i - own])) return false;
    return true;
}

static void bias_act_take(const hg_graph *g, const hg_node *n, uint32_t own,
                          const hg_epilogue_simple *s, hg_bias_act *out)
{
    const float *const column[HG_BIAS_ACT_COLUMNS] = {s->bias, s->slope, s->gain, s->lift};
    const float number[HG_BIAS_ACT_NUMBERS] = {s->low,   s->high,  s->gate_scale, s->gate_shift,
                                               s->scale, s->shift, s->factor,     s->offset};
    out->kind = s->act;
    for (int i = 0; i < HG_BIAS_ACT_COLUMNS; i++) {
        if (column[i] == NULL) continue;
        const ptrdiff_t k = (const char *)(const void *)column[i] - bias_act_mark;
        out->column[i] = hg_node_in(g, n, own + (uint32_t)k);
    }
    for (int i = 0; i < HG_BIAS_ACT_NUMBERS; i++)
        out->number[i] = (double)number[i];
}

bool hg_bias_act_of(const hg_graph *g, const hg_node *n, uint32_t own, hg_bias_act *out)
{
    const hg_attr *code = hg_node_attr(n, "code");
    holo_tensor in[HG_LANE_MAX_IO], result;
    hg_epilogue_simple s;
    *out = (hg_bias_act){.kind = HG_EPILOGUE_LINEAR};
    for (int i = 0; i < HG_BIAS_ACT_NUMBERS; i++)
        out->number[i] = hg_bias_act_number[i].usual;
    if (code == NULL) return n->n_in == own;
    if (!bias_act_args(g, n, own, in, &result)) return false;
    const hg_args args = {.in = in, .n_in = n->n_in - own, .out = &result, .code = code->code};
    if (!hg_epilogue_is_simple(&args, 0, &s)) return false;
    if (hg_epilogue_has_residual(&s) || s.bias2 != NULL) return false;
    bias_act_take(g, n, own, &s, out);
    return true;
}
