/* op_bias_act.c - asks kernel/epilogue.h what lane code does, with tensors of the right shapes
 * that nobody reads. */
#include "op/op_bias_act.h"

#include "kernel/epilogue.h"

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

bool hg_bias_act_of(const hg_graph *g, const hg_node *n, uint32_t own, hg_bias_act *out)
{
    const hg_attr *code = hg_node_attr(n, "code");
    holo_tensor in[HG_LANE_MAX_IO], result;
    hg_epilogue_simple s;
    *out = (hg_bias_act){.kind = HG_EPILOGUE_LINEAR};
    if (code == NULL) return n->n_in == own;
    if (!bias_act_args(g, n, own, in, &result)) return false;
    const hg_args args = {.in = in, .n_in = n->n_in - own, .out = &result, .code = code->code};
    if (!hg_epilogue_is_simple(&args, 0, &s)) return false;
    if (hg_epilogue_has_residual(&s) || s.bias2 != NULL || s.is_scaled || !s.is_final ||
        s.act > HG_EPILOGUE_HARDSWISH)
        return false;
    const ptrdiff_t i = (const char *)(const void *)s.bias - bias_act_mark;
    *out = (hg_bias_act){.bias = s.bias == NULL ? 0 : hg_node_in(g, n, own + (uint32_t)i),
                         .kind = s.act,
                         .low = (double)s.low,
                         .high = (double)s.high,
                         .gate_scale = (double)s.gate_scale,
                         .gate_shift = (double)s.gate_shift};
    return true;
}
