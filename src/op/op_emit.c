/* op_emit.c - from a node to a kernel call; lane code of point-wise nodes. */
#include "op/op.h"

#include "kernel/lane_bytes.h"

#include <stdarg.h>
#include <stdio.h>

holo_status hg_emit_fail(const hg_emit *e, holo_status status, const char *format, ...)
{
    char sentence[512], label[64];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    hg_str name = hg_node_label(e->g, e->id, label, sizeof label);
    return hg_fail(e->ctx->error, status, "node '%.*s' (%s): %s", HG_STR_ARG(name),
                   e->node->origin->name, sentence);
}

holo_status hg_emit_dim(hg_emit *e, hg_dim value)
{
    if (e->g->dims.failed) return hg_fail_nomem(e->ctx->error, sizeof(hg_dim_rec));
    if (value == 0) return hg_emit_fail(e, HOLO_E_BUG, "a parameter has no value");
    size_t capacity = e->param_capacity;
    hg_dim *param = hg_arena_grow(&e->ctx->arena, e->param, e->n_param, &capacity, sizeof *param);
    if (param == NULL) return hg_fail_nomem(e->ctx->error, capacity * sizeof *param);
    e->param = param;
    e->param_capacity = (uint32_t)capacity;
    e->param[e->n_param++] = value;
    return HOLO_OK;
}

holo_status hg_emit_int(hg_emit *e, int64_t value)
{
    return hg_emit_dim(e, hg_dim_const(&e->g->dims, value));
}

holo_status hg_emit_float(hg_emit *e, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hg_emit_int(e, bits);
}

holo_status hg_emit_view(hg_emit *e)
{
    e->is_view = true;
    return HOLO_OK;
}

const hg_type *hg_emit_type(const hg_emit *e, uint32_t i)
{
    static const hg_type absent;
    hg_value_id id = hg_node_in(e->g, e->node, i);
    return id == 0 ? &absent : &hg_graph_value(e->g, id)->type;
}

const hg_type *hg_emit_out_type(const hg_emit *e, uint32_t j)
{
    return &hg_graph_value(e->g, e->node->out[j])->type;
}

holo_status hg_emit_content(const hg_emit *e, uint32_t i, const hg_dim **content, uint32_t *count)
{
    hg_infer n = {.g = e->g, .ctx = e->ctx, .dims = &e->g->dims, .id = e->id, .node = e->node};
    if (hg_infer_content(&n, i, content, count)) return HOLO_OK;
    if (e->g->dims.failed) return hg_fail_nomem(e->ctx->error, sizeof(hg_dim_rec));
    return hg_emit_fail(e, HOLO_E_BUG, "the contents of input %u are not known", i);
}

holo_status hg_op_code(hg_graph *g, hg_node_id id, hg_lane_code *code)
{
    const hg_node *node = hg_graph_node(g, id);
    holo_dtype *dtype;
    hg_lane_id *in;
    HG_TRY(HG_NEW(g->ctx, node->n_in + 1, &dtype));
    HG_TRY(HG_NEW(g->ctx, node->n_in + 1, &in));
    hg_lane *b = hg_lane_new(&g->ctx->arena);
    if (b == NULL) return hg_fail_nomem(g->ctx->error, 1024);
    for (uint32_t i = 0; i < node->n_in; i++) {
        hg_value_id v = hg_node_in(g, node, i);
        dtype[i] = v == 0 ? HOLO_NONE : hg_graph_value(g, v)->type.dtype;
        if (v != 0) in[i] = hg_lane_load(b, i, hg_lane_type_of(dtype[i]));
    }
    holo_dtype out_dtype = hg_graph_value(g, node->out[0])->type.dtype;
    hg_formula f = {.b = b,
                    .g = g,
                    .node = node,
                    .n_in = node->n_in,
                    .in_dtype = dtype,
                    .out_dtype = out_dtype};
    hg_lane_id result = node->op->lane(&f, in);
    hg_lane_out kind = {.type = (uint8_t)hg_lane_type_of(out_dtype)};
    return hg_lane_finish(b, node->n_in, &result, &kind, 1, code, g->ctx->error);
}

static holo_status emit_lane(hg_emit *e)
{
    hg_lane_code *code;
    HG_TRY(HG_NEW(e->ctx, 1, &code));
    HG_TRY(hg_op_code(e->g, e->id, code));
    e->kernel = "lane";
    e->code = code;
    return HOLO_OK;
}

/* Bodies of bytes have a kernel of their own. */
static void emit_bytes(hg_emit *e)
{
    holo_dtype in[HG_LANE_MAX_IO], out[HG_LANE_MAX_IO];
    hg_lane_bytes bytes;
    if (e->n_in > HG_LANE_MAX_IO || e->node->n_out > HG_LANE_MAX_IO) return;
    for (uint32_t i = 0; i < e->n_in; i++)
        in[i] = e->in[i] == 0 ? HOLO_NONE : hg_graph_value(e->g, e->in[i])->type.dtype;
    for (uint32_t i = 0; i < e->node->n_out; i++)
        out[i] = hg_graph_value(e->g, e->node->out[i])->type.dtype;
    if (hg_lane_bytes_read(e->code, in, out, &bytes)) e->kernel = "lane.bytes";
}

holo_status hg_op_emit(hg_graph *g, hg_node_id id, hg_emit *e)
{
    const hg_node *node = hg_graph_node(g, id);
    *e = (hg_emit){.g = g, .ctx = g->ctx, .id = id, .node = node, .kernel = node->op->kernel};
    HG_TRY(HG_NEW(g->ctx, node->n_in + 8, &e->in));
    e->n_in = node->n_in;
    for (uint32_t i = 0; i < node->n_in; i++)
        e->in[i] = hg_node_in(g, node, i);
    const hg_attr *code = hg_node_attr(node, "code");
    if (code != NULL && code->kind == HG_ATTR_CODE) e->code = code->code;
    if (node->op->lane != NULL) HG_TRY(emit_lane(e));
    if (node->op->emit != NULL) HG_TRY(node->op->emit(e));
    if (e->kernel != NULL && strcmp(e->kernel, "lane") == 0) emit_bytes(e);
    if (e->kernel == NULL && !e->is_view)
        return hg_emit_fail(e, HOLO_E_UNSUPPORTED, "this operator cannot be run here");
    return HOLO_OK;
}
