/* export.c - writes a graph as an ONNX file: field numbers are those of onnx-ml.proto.
 *
 * A message is preceded by its length. Nodes and heads of tensors are built in memory; the length
 * of the graph is found by writing everything once to nowhere. */
#include "import/onnx/export.h"

#include "graph/operator.h"
#include "import/onnx/model.h"
#include "op/op.h"

#include <stdio.h>

enum { EXPORT_OPSET = 21, EXPORT_IR = 10, EXPORT_VARINT = 0, EXPORT_BYTES = 2, EXPORT_FIXED32 = 5 };

typedef struct export_buffer {
    hg_ctx *ctx;
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} export_buffer;

typedef struct export_state {
    hg_graph *g;
    holo_sink_fn sink; /* NULL: only count */
    void *user;
    uint64_t size;
    bool *is_input; /* by value */
    hg_map seen;    /* names of nodes: the standard wants them to differ */
    export_buffer *message, *inner, *leaf;
} export_state;

/* ---- bytes ----------------------------------------------------------------------------------- */

static void export_put(export_buffer *b, const void *bytes, size_t size)
{
    if (b->failed || size == 0) return;
    if (size > b->capacity - b->size) {
        const size_t capacity = 2 * (b->capacity + size) + 256;
        uint8_t *grown = hg_arena_alloc_raw(&b->ctx->arena, capacity);
        b->failed = grown == NULL;
        if (grown == NULL) return;
        if (b->size != 0) memcpy(grown, b->data, b->size);
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

static void export_varint(export_buffer *b, uint64_t x)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; x >= 128; x >>= 7)
        bytes[n++] = (uint8_t)(x | 128);
    bytes[n++] = (uint8_t)x;
    export_put(b, bytes, n);
}

static void export_int(export_buffer *b, uint32_t field, int64_t x)
{
    export_varint(b, field << 3 | EXPORT_VARINT);
    export_varint(b, (uint64_t)x);
}

static void export_bytes(export_buffer *b, uint32_t field, const void *bytes, size_t size)
{
    export_varint(b, field << 3 | EXPORT_BYTES);
    export_varint(b, size);
    export_put(b, bytes, size);
}

static void export_text(export_buffer *b, uint32_t field, hg_str text)
{
    export_bytes(b, field, text.text, text.length);
}

static void export_float(export_buffer *b, uint32_t field, float x)
{
    export_varint(b, field << 3 | EXPORT_FIXED32);
    export_put(b, &x, sizeof x);
}

static void export_message(export_buffer *b, uint32_t field, const export_buffer *inner)
{
    export_bytes(b, field, inner->data, inner->size);
    b->failed |= inner->failed;
}

static holo_status export_send(export_state *s, const void *bytes, size_t size)
{
    s->size += size;
    if (s->sink == NULL || size == 0 || s->sink(s->user, bytes, size)) return HOLO_OK;
    return hg_fail(s->g->ctx->error, HOLO_E_IO, "the ONNX file could not be written");
}

/* A message of the graph, `more` bytes of which follow the buffer. */
static holo_status export_flush(export_state *s, uint32_t field, const export_buffer *b,
                                size_t more)
{
    uint8_t head[24];
    export_buffer h = {.ctx = s->g->ctx, .data = head, .capacity = sizeof head};
    if (b->failed) return hg_fail_nomem(s->g->ctx->error, b->size);
    export_varint(&h, field << 3 | EXPORT_BYTES);
    export_varint(&h, b->size + more);
    HG_TRY(export_send(s, head, h.size));
    return export_send(s, b->data, b->size);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Inputs keep their names; others are numbered, since names in a graph may repeat. */
static void export_name(const export_state *s, export_buffer *b, uint32_t field, hg_value_id v)
{
    char text[32];
    if (v == 0) {
        export_bytes(b, field, "", 0);
    } else if (s->is_input[v]) {
        export_text(b, field, hg_graph_value(s->g, v)->name);
    } else {
        const int n = snprintf(text, sizeof text, "holo.%u", v);
        export_bytes(b, field, text, (size_t)n);
    }
}

static void export_type(export_state *s, export_buffer *b, uint32_t field, const hg_type *t)
{
    export_buffer dim = {.ctx = s->g->ctx}, shape = dim, tensor = dim, type = dim;
    for (int32_t k = 0; k < t->rank; k++) {
        int64_t size;
        dim.size = 0;
        if (hg_dim_is_const(&s->g->dims, t->dim[k], &size)) {
            export_int(&dim, HG_ONNX_DIM_VALUE, size);
        } else if (t->dim[k] != 0) {
            char text[128];
            hg_dim_print(&s->g->dims, t->dim[k], text, sizeof text);
            export_text(&dim, HG_ONNX_DIM_PARAM, hg_str_from(text));
        }
        export_message(&shape, 1, &dim);
    }
    export_int(&tensor, 1, (int64_t)t->dtype);
    if (t->rank != HG_RANK_UNKNOWN) export_message(&tensor, HG_ONNX_TENSOR_TYPE_SHAPE, &shape);
    export_message(&type, HG_ONNX_TYPE_TENSOR, &tensor);
    export_message(b, field, &type);
}

static holo_status export_port(export_state *s, uint32_t field, hg_str name, hg_value_id v)
{
    export_buffer *b = s->message;
    const hg_type *t = &hg_graph_value(s->g, v)->type;
    if (t->dtype == HOLO_NONE || t->dtype == HOLO_STRING || t->dtype >= HOLO_SEQUENCE)
        return hg_fail(s->g->ctx->error, HOLO_E_UNSUPPORTED,
                       "'%.*s' is %s, which is not exported to ONNX", HG_STR_ARG(name),
                       holo_dtype_text(t->dtype));
    b->size = 0;
    export_text(b, 1, name);
    export_type(s, b, HG_ONNX_VALUE_INFO_TYPE, t);
    return export_flush(s, field, b, 0);
}

static void export_tensor_head(const export_state *s, export_buffer *b, hg_value_id v)
{
    const hg_type *t = &hg_graph_value(s->g, v)->type;
    b->size = 0;
    for (int32_t k = 0; k < t->rank; k++) {
        int64_t size = 0;
        (void)hg_dim_is_const(&s->g->dims, t->dim[k], &size);
        export_int(b, 1, size);
    }
    export_int(b, 2, (int64_t)t->dtype);
    export_name(s, b, 8, v);
    export_varint(b, HG_ONNX_TENSOR_RAW_DATA << 3 | EXPORT_BYTES);
    export_varint(b, hg_graph_value(s->g, v)->constant->bytes);
}

static holo_status export_constant(export_state *s, hg_value_id v)
{
    const hg_value *value = hg_graph_value(s->g, v);
    if (value->type.dtype == HOLO_STRING)
        return hg_fail(s->g->ctx->error, HOLO_E_UNSUPPORTED,
                       "constant strings are not exported to ONNX");
    export_tensor_head(s, s->message, v);
    HG_TRY(export_flush(s, 5, s->message, value->constant->bytes));
    return export_send(s, value->constant->data, value->constant->bytes);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static holo_status export_fail(const export_state *s, hg_node_id id, const char *what)
{
    char label[64];
    const hg_node *n = hg_graph_node(s->g, id);
    hg_str name = hg_node_label(s->g, id, label, sizeof label);
    return hg_fail(s->g->ctx->error, HOLO_E_UNSUPPORTED,
                   "node '%.*s' (%s%s%s): %s is not exported to ONNX; fixing dimensions may help",
                   HG_STR_ARG(name), n->op->domain == NULL ? "" : n->op->domain,
                   n->op->domain == NULL ? "" : ":", n->op->name, what);
}

/* False for kinds that the standard does not have. */
static bool export_attribute(export_state *s, hg_str name, const hg_attr *a)
{
    export_buffer *b = s->inner;
    b->size = 0;
    export_text(b, 1, name);
    switch (a->kind) {
    case HG_ATTR_INT:
        export_int(b, 3, a->i);
        export_int(b, 20, HG_ONNX_INT);
        break;
    case HG_ATTR_FLOAT:
        export_float(b, 2, a->f);
        export_int(b, 20, HG_ONNX_FLOAT);
        break;
    case HG_ATTR_STRING:
        export_text(b, 4, a->s);
        export_int(b, 20, HG_ONNX_STRING);
        break;
    case HG_ATTR_INTS:
        for (size_t i = 0; i < a->count; i++)
            export_int(b, 8, a->ints[i]);
        export_int(b, 20, HG_ONNX_INTS);
        break;
    case HG_ATTR_FLOATS:
        for (size_t i = 0; i < a->count; i++)
            export_float(b, 7, a->floats[i]);
        export_int(b, 20, HG_ONNX_FLOATS);
        break;
    case HG_ATTR_STRINGS:
        for (size_t i = 0; i < a->count; i++)
            export_text(b, 9, a->strings[i]);
        export_int(b, 20, HG_ONNX_STRINGS);
        break;
    case HG_ATTR_TENSOR:
    case HG_ATTR_DIMS:
    case HG_ATTR_CODE:
    case HG_ATTR_TYPE: return false;
    }
    export_message(s->message, 5, b);
    return true;
}

/* Older models give axes as an attribute of what has them as an input by now. */
static bool export_has_axes_input(const hg_node *n)
{
    return strncmp(n->op->name, "Reduce", 6) == 0 || hg_op_is(n, "Squeeze") ||
           hg_op_is(n, "Unsqueeze");
}

static holo_status export_axes(export_state *s, hg_node_id id, const hg_attr *axes)
{
    export_buffer *b = s->leaf;
    char text[32];
    b->size = 0;
    export_int(b, 1, (int64_t)axes->count);
    export_int(b, 2, HOLO_I64);
    const int n = snprintf(text, sizeof text, "holo.axes.%u", id);
    export_bytes(b, 8, text, (size_t)n);
    export_bytes(b, HG_ONNX_TENSOR_RAW_DATA, axes->ints, axes->count * sizeof *axes->ints);
    HG_TRY(export_flush(s, 5, b, 0));
    export_bytes(s->message, 1, text, (size_t)n);
    return HOLO_OK;
}

/* holo:MatMul of two matrices is Gemm. */
static bool export_is_gemm(const hg_graph *g, const hg_node *n)
{
    return hg_op_is(n, "holo:MatMul") && n->n_in == 2 &&
           hg_graph_value(g, hg_node_in(g, n, 0))->type.rank == 2 &&
           hg_graph_value(g, hg_node_in(g, n, 1))->type.rank == 2;
}

static holo_status export_attributes(export_state *s, hg_node_id id, bool gemm, bool skip_axes)
{
    const hg_node *n = hg_graph_node(s->g, id);
    for (uint32_t i = 0; i < n->n_attr; i++) {
        hg_str name = n->attr[i].name;
        if (skip_axes && hg_str_is(name, "axes")) continue;
        if (gemm && hg_str_is(name, "trans_a")) name = hg_str_from("transA");
        if (gemm && hg_str_is(name, "trans_b")) name = hg_str_from("transB");
        if (!export_attribute(s, name, &n->attr[i])) return export_fail(s, id, "an attribute");
    }
    return HOLO_OK;
}

static holo_status export_node(export_state *s, hg_node_id id)
{
    const hg_node *n = hg_graph_node(s->g, id);
    const bool gemm = export_is_gemm(s->g, n), takes_axes = export_has_axes_input(n);
    const hg_attr *axes = takes_axes ? hg_node_attr(n, "axes") : NULL;
    export_buffer *b = s->message;
    if (n->n_body != 0) return export_fail(s, id, "a body");
    if ((n->op->flags & HG_OP_INTERNAL) != 0 && !gemm) return export_fail(s, id, "this operator");
    b->size = 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        export_name(s, b, 1, hg_node_in(s->g, n, i));
    if (axes != NULL && n->n_in == 1 && axes->kind == HG_ATTR_INTS)
        HG_TRY(export_axes(s, id, axes));
    for (uint32_t j = 0; j < n->n_out; j++)
        export_name(s, b, 2, n->out[j]);
    if (n->name.length != 0 && hg_map_get(&s->seen, n->name) == 0) {
        export_text(b, 3, n->name);
        if (!hg_map_set(&s->seen, n->name, 1)) return hg_fail_nomem(s->g->ctx->error, 16);
    }
    export_text(b, 4, hg_str_from(gemm ? "Gemm" : n->op->name));
    HG_TRY(export_attributes(s, id, gemm, takes_axes));
    if (n->op->domain != NULL && !gemm) export_text(b, 7, hg_str_from(n->op->domain));
    return export_flush(s, 1, b, 0);
}

/* An output has its own name: a node that repeats the value under it. */
static holo_status export_output_node(export_state *s, hg_str name, hg_value_id v)
{
    export_buffer *b = s->message;
    b->size = 0;
    export_name(s, b, 1, v);
    export_text(b, 2, name);
    export_text(b, 4, hg_str_from("Identity"));
    return export_flush(s, 1, b, 0);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool export_is_needed(const hg_graph *g, hg_value_id v)
{
    return hg_graph_is_const(g, v) && hg_graph_value(g, v)->n_uses != 0;
}

static holo_status export_graph(export_state *s)
{
    hg_graph *g = s->g;
    hg_map_init(&s->seen, &g->ctx->arena);
    const hg_region *r = hg_graph_region(g, HG_REGION_MAIN);
    for (hg_node_id id = r->first; id != 0; id = hg_graph_node(g, id)->next)
        HG_TRY(export_node(s, id));
    for (uint32_t i = 0; i < r->n_out; i++)
        HG_TRY(export_output_node(s, r->out_name[i], hg_region_out(g, HG_REGION_MAIN, i)));
    s->message->size = 0;
    export_bytes(s->message, 2, "holo", 4);
    HG_TRY(export_send(s, s->message->data, s->message->size));
    for (hg_value_id v = 1; v < g->n_value; v++)
        if (export_is_needed(g, v)) HG_TRY(export_constant(s, v));
    for (uint32_t i = 0; i < r->n_in; i++)
        HG_TRY(export_port(s, 11, hg_graph_value(g, r->in[i])->name, r->in[i]));
    for (uint32_t i = 0; i < r->n_out; i++)
        HG_TRY(export_port(s, 12, r->out_name[i], hg_region_out(g, HG_REGION_MAIN, i)));
    return HOLO_OK;
}

static holo_status export_head(export_state *s)
{
    static const char *const domains[] = {"", "com.microsoft", "ai.onnx.ml"};
    static const int64_t versions[] = {EXPORT_OPSET, 1, 3};
    export_buffer *b = s->message;
    b->size = 0;
    export_int(b, HG_ONNX_MODEL_IR_VERSION, EXPORT_IR);
    export_text(b, 2, hg_str_from("hologram"));
    for (size_t i = 0; i < HG_COUNT(domains); i++) {
        s->inner->size = 0;
        export_text(s->inner, 1, hg_str_from(domains[i]));
        export_int(s->inner, 2, versions[i]);
        export_message(b, 8, s->inner);
    }
    if (b->failed) return hg_fail_nomem(s->g->ctx->error, b->size);
    return export_send(s, b->data, b->size);
}

holo_status hg_export_onnx(hg_graph *g, holo_sink_fn sink, void *user)
{
    export_buffer message = {.ctx = g->ctx}, inner = message, leaf = message, head = message;
    export_state s = {.g = g, .user = user, .message = &message, .inner = &inner, .leaf = &leaf};
    HG_TRY(HG_NEW(g->ctx, g->n_value + 1, &s.is_input));
    const hg_region *r = hg_graph_region(g, HG_REGION_MAIN);
    for (uint32_t i = 0; i < r->n_in; i++)
        s.is_input[r->in[i]] = true;
    HG_TRY(export_graph(&s));
    const uint64_t size = s.size;
    if (size > INT32_MAX)
        return hg_fail(g->ctx->error, HOLO_E_LIMIT,
                       "%llu bytes are more than an ONNX file without external data holds",
                       (unsigned long long)size);
    s.sink = sink;
    HG_TRY(export_head(&s));
    export_varint(&head, HG_ONNX_MODEL_GRAPH << 3 | EXPORT_BYTES);
    export_varint(&head, size);
    if (head.failed) return hg_fail_nomem(g->ctx->error, head.size);
    HG_TRY(export_send(&s, head.data, head.size));
    return export_graph(&s);
}
