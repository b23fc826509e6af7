/* builder.c - the public graph builder: records calls, replays them into a graph for each compile,
 * so that a built graph can be compiled again with other options. */
#include "compile/compile.h"
#include "isa/deep.h"
#include "op/op.h"

typedef enum builder_kind { BUILDER_INPUT = 1, BUILDER_CONST, BUILDER_NODE } builder_kind;

/* One recorded call; values are numbered from 1 in the order in which calls made them. */
typedef struct builder_call {
    builder_kind kind;
    hg_str name; /* input: its name; node: "domain:Op" */
    hg_str dims; /* input */
    holo_tensor tensor;
    size_t bytes;
    holo_value_id *in;
    uint32_t n_in, n_out;
    holo_attr *attr;
    uint32_t n_attr;
} builder_call;

typedef struct builder_output {
    holo_value_id value;
    hg_str name;
} builder_output;

struct holo_graph {
    hg_arena arena;
    holo_allocator alloc;
    int32_t opset;
    holo_error error; /* the first one */
    builder_call *call;
    size_t n_call, call_capacity;
    builder_output *output;
    size_t n_output, output_capacity;
    uint32_t n_value;
};

/* Newest version of the standard whose operators are known. */
enum { BUILDER_OPSET = 28 };

holo_status holo_graph_new(int32_t opset, const holo_allocator *allocator, holo_graph **out,
                           holo_error *error)
{
    holo_allocator alloc = hg_allocator_or_libc(allocator);
    holo_graph *g = hg_alloc_zero(&alloc, sizeof *g);
    if (g == NULL) return hg_fail_nomem(error, sizeof *g);
    g->alloc = alloc;
    g->opset = opset == 0 ? BUILDER_OPSET : opset;
    hg_arena_init(&g->arena, &alloc, 0);
    *out = g;
    return HOLO_OK;
}

void holo_graph_free(holo_graph *graph)
{
    if (graph == NULL) return;
    holo_allocator alloc = graph->alloc;
    hg_arena_deinit(&graph->arena);
    hg_free(&alloc, graph, sizeof *graph);
}

/* ---- recording
 * ------------------------------------------------------------------------------------------- */

static bool builder_nomem(holo_graph *g)
{
    (void)hg_fail_nomem(&g->error, sizeof(builder_call));
    return false;
}

static void *builder_copy(holo_graph *g, const void *bytes, size_t size)
{
    void *copy = hg_arena_alloc(&g->arena, size + 1);
    if (copy == NULL)
        builder_nomem(g);
    else if (size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

static bool builder_copy_text(holo_graph *g, const char *text, hg_str *out)
{
    *out = hg_str_copy(&g->arena, hg_str_from(text));
    return out->text != NULL || builder_nomem(g);
}

static bool builder_add(holo_graph *g, const builder_call *call)
{
    builder_call *calls =
        hg_arena_grow(&g->arena, g->call, g->n_call, &g->call_capacity, sizeof *calls);
    if (calls == NULL) return builder_nomem(g);
    g->call = calls;
    g->call[g->n_call++] = *call;
    return true;
}

/* Elements and text in one piece. */
static bool builder_copy_strings(holo_graph *g, const holo_tensor *from, holo_tensor *to)
{
    holo_status status = hg_deep_check(from, &g->error);
    if (status != HOLO_OK) {
        (void)hg_fail_prefix(&g->error, status, "a constant: ");
        return false;
    }
    size_t bytes = hg_deep_all(from);
    hg_room room = {bytes == SIZE_MAX ? NULL : hg_arena_alloc(&g->arena, bytes + 1), bytes};
    return (room.at != NULL && hg_deep_copy_all(from, to, &room)) || builder_nomem(g);
}

static bool builder_copy_tensor(holo_graph *g, const holo_tensor *from, holo_tensor *to,
                                size_t *bytes)
{
    *bytes = holo_tensor_bytes(from);
    if (*bytes == SIZE_MAX || from->dtype >= HOLO_SEQUENCE || (from->data == NULL && *bytes != 0)) {
        (void)hg_fail(&g->error, HOLO_E_ARG, "a constant has no data, a bad shape or type %s",
                      holo_dtype_text(from->dtype));
        return false;
    }
    if (from->dtype == HOLO_STRING) return builder_copy_strings(g, from, to);
    *to = *from;
    to->data = builder_copy(g, from->data, *bytes);
    return to->data != NULL;
}

holo_value_id holo_graph_input(holo_graph *graph, const char *name, holo_dtype dtype,
                               const char *dims)
{
    if (graph->error.status != HOLO_OK) return 0;
    builder_call call = {.kind = BUILDER_INPUT, .tensor = {.dtype = dtype}, .n_out = 1};
    if (!builder_copy_text(graph, name, &call.name) ||
        !builder_copy_text(graph, dims, &call.dims) || !builder_add(graph, &call))
        return 0;
    return ++graph->n_value;
}

holo_value_id holo_graph_constant(holo_graph *graph, const holo_tensor *tensor)
{
    if (graph->error.status != HOLO_OK) return 0;
    builder_call call = {.kind = BUILDER_CONST, .n_out = 1};
    if (!builder_copy_tensor(graph, tensor, &call.tensor, &call.bytes) ||
        !builder_add(graph, &call))
        return 0;
    return ++graph->n_value;
}

static bool builder_copy_attr(holo_graph *g, const holo_attr *from, holo_attr *to)
{
    hg_str text;
    *to = *from;
    if (!builder_copy_text(g, from->name, &text)) return false;
    to->name = text.text;
    switch (from->kind) {
    case HOLO_ATTR_INT:
    case HOLO_ATTR_FLOAT: return true;
    case HOLO_ATTR_STRING:
        if (!builder_copy_text(g, from->s, &text)) return false;
        to->s = text.text;
        return true;
    case HOLO_ATTR_INTS:
        to->ints = builder_copy(g, from->ints, from->count * sizeof *from->ints);
        return to->ints != NULL;
    case HOLO_ATTR_FLOATS:
        to->floats = builder_copy(g, from->floats, from->count * sizeof *from->floats);
        return to->floats != NULL;
    case HOLO_ATTR_STRINGS: {
        const char **list = builder_copy(g, from->strings, from->count * sizeof *from->strings);
        for (size_t i = 0; list != NULL && i < from->count; i++) {
            if (!builder_copy_text(g, from->strings[i], &text)) return false;
            list[i] = text.text;
        }
        to->strings = list;
        return list != NULL;
    }
    case HOLO_ATTR_TENSOR: {
        size_t bytes;
        holo_tensor *copy = builder_copy(g, from->tensor, sizeof *copy);
        to->tensor = copy;
        return copy != NULL && builder_copy_tensor(g, from->tensor, copy, &bytes);
    }
    }
    (void)hg_fail(&g->error, HOLO_E_ARG, "attribute '%s' has unknown kind %d", from->name,
                  (int)from->kind);
    return false;
}

static bool builder_record(holo_graph *graph, const char *op, const holo_value_id *in, size_t n_in,
                           const holo_attr *attrs, size_t n_attrs, size_t n_out)
{
    if (graph->error.status != HOLO_OK) return false;
    for (size_t i = 0; i < n_in; i++)
        if (in[i] > graph->n_value) {
            (void)hg_fail(&graph->error, HOLO_E_ARG, "%s: input %zu is value %u, the graph has %u",
                          op, i, in[i], graph->n_value);
            return false;
        }
    builder_call call = {.kind = BUILDER_NODE,
                         .n_in = (uint32_t)n_in,
                         .n_out = (uint32_t)n_out,
                         .n_attr = (uint32_t)n_attrs};
    call.in = builder_copy(graph, in, n_in * sizeof *in);
    call.attr = builder_copy(graph, attrs, n_attrs * sizeof *attrs);
    if (call.in == NULL || call.attr == NULL || !builder_copy_text(graph, op, &call.name))
        return false;
    for (size_t i = 0; i < n_attrs; i++)
        if (!builder_copy_attr(graph, &attrs[i], &call.attr[i])) return false;
    return builder_add(graph, &call);
}

/* `out` may be `in`: it is written last. */
bool holo_graph_node(holo_graph *graph, const char *op, const holo_value_id *in, size_t n_in,
                     const holo_attr *attrs, size_t n_attrs, holo_value_id *out, size_t n_out)
{
    const bool added = builder_record(graph, op, in, n_in, attrs, n_attrs, n_out);
    for (size_t j = 0; j < n_out; j++)
        out[j] = added ? ++graph->n_value : 0;
    return added;
}

bool holo_graph_output(holo_graph *graph, holo_value_id value, const char *name)
{
    if (graph->error.status != HOLO_OK) return false;
    if (value == 0 || value > graph->n_value) {
        (void)hg_fail(&graph->error, HOLO_E_ARG, "output '%s' is value %u, the graph has %u", name,
                      value, graph->n_value);
        return false;
    }
    builder_output *outputs = hg_arena_grow(&graph->arena, graph->output, graph->n_output,
                                            &graph->output_capacity, sizeof *outputs);
    if (outputs == NULL) return builder_nomem(graph);
    graph->output = outputs;
    outputs[graph->n_output] = (builder_output){.value = value};
    if (!builder_copy_text(graph, name, &outputs[graph->n_output].name)) return false;
    graph->n_output++;
    return true;
}

/* ---- replaying
 * --------------------------------------------------------------------------------------------- */

static holo_status builder_parse_dims(hg_graph *g, const builder_call *call, hg_type *type)
{
    hg_str rest = call->dims;
    while (rest.length != 0) {
        const char *comma = memchr(rest.text, ',', rest.length);
        hg_str word = {rest.text, comma == NULL ? rest.length : (size_t)(comma - rest.text)};
        if (type->rank == HG_MAX_RANK)
            return hg_fail(g->ctx->error, HOLO_E_ARG, "input '%.*s' has more than %d dimensions",
                           HG_STR_ARG(call->name), HG_MAX_RANK);
        hg_dim dim = hg_str_is(word, "?")
                         ? hg_dim_named(&g->dims, hg_str_format(&g->ctx->arena, "%.*s.%d",
                                                                HG_STR_ARG(call->name), type->rank))
                         : hg_dim_parse(&g->dims, word);
        if (dim == 0)
            return hg_fail(g->ctx->error, HOLO_E_ARG, "input '%.*s': '%.*s' is no dimension",
                           HG_STR_ARG(call->name), HG_STR_ARG(word));
        type->dim[type->rank++] = dim;
        rest.length -= word.length;
        rest.text += word.length;
        if (rest.length != 0) rest = (hg_str){rest.text + 1, rest.length - 1};
    }
    return HOLO_OK;
}

static holo_status builder_const(hg_graph *g, const holo_tensor *t, hg_value_id *out)
{
    hg_type type = {.dtype = t->dtype, .rank = t->rank};
    for (int32_t k = 0; k < t->rank; k++)
        type.dim[k] = hg_dim_const(&g->dims, t->dim[k]);
    return hg_graph_add_const(g, (hg_str){0}, type, t->data, holo_tensor_bytes(t), out);
}

static holo_status builder_attr(hg_graph *g, const holo_attr *from, hg_attr *to)
{
    *to = (hg_attr){.name = hg_str_from(from->name),
                    .i = from->i,
                    .f = from->f,
                    .ints = from->ints,
                    .floats = from->floats,
                    .count = from->count};
    switch (from->kind) {
    case HOLO_ATTR_INT: to->kind = HG_ATTR_INT; return HOLO_OK;
    case HOLO_ATTR_FLOAT: to->kind = HG_ATTR_FLOAT; return HOLO_OK;
    case HOLO_ATTR_INTS: to->kind = HG_ATTR_INTS; return HOLO_OK;
    case HOLO_ATTR_FLOATS: to->kind = HG_ATTR_FLOATS; return HOLO_OK;
    case HOLO_ATTR_STRING:
        to->kind = HG_ATTR_STRING;
        to->s = hg_str_from(from->s);
        return HOLO_OK;
    case HOLO_ATTR_STRINGS: {
        hg_str *list;
        HG_TRY(HG_NEW(g->ctx, from->count + 1, &list));
        for (size_t i = 0; i < from->count; i++)
            list[i] = hg_str_from(from->strings[i]);
        to->kind = HG_ATTR_STRINGS;
        to->strings = list;
        return HOLO_OK;
    }
    case HOLO_ATTR_TENSOR:
        to->kind = HG_ATTR_TENSOR;
        return builder_const(g, from->tensor, &to->tensor);
    }
    return HOLO_OK;
}

static holo_status builder_node(hg_graph *g, const builder_call *call, hg_value_id *value,
                                uint32_t *n_value)
{
    const char *colon = memchr(call->name.text, ':', call->name.length);
    hg_str domain = {call->name.text, colon == NULL ? 0 : (size_t)(colon - call->name.text)};
    size_t skip = colon == NULL ? 0 : domain.length + 1;
    hg_str name = {call->name.text + skip, call->name.length - skip};
    const hg_op *op = hg_op_find(domain, name);
    if (op == NULL || op->n_body != 0)
        return hg_fail(g->ctx->error, HOLO_E_UNSUPPORTED, "operator '%.*s' cannot be built",
                       HG_STR_ARG(call->name));
    hg_value_id *in;
    hg_attr *attr;
    HG_TRY(HG_NEW(g->ctx, call->n_in + 1, &in));
    HG_TRY(HG_NEW(g->ctx, call->n_attr + 1, &attr));
    for (uint32_t i = 0; i < call->n_in; i++)
        in[i] = value[call->in[i]];
    for (uint32_t i = 0; i < call->n_attr; i++)
        HG_TRY(builder_attr(g, &call->attr[i], &attr[i]));
    hg_node_spec spec = {.op = op,
                         .in = in,
                         .n_in = call->n_in,
                         .attr = attr,
                         .n_attr = call->n_attr,
                         .n_out = call->n_out};
    hg_node_id id;
    HG_TRY(hg_graph_add_node(g, HG_REGION_MAIN, 0, &spec, &id));
    for (uint32_t j = 0; j < call->n_out; j++)
        value[++*n_value] = hg_graph_node(g, id)->out[j];
    return HOLO_OK;
}

static bool builder_is_old(const hg_op *op, int32_t opset)
{
    return op->upgrade != NULL && opset < (op->version == 0 ? op->since : op->version);
}

static bool builder_is_used(hg_graph *g, const hg_node *n)
{
    for (uint32_t j = 0; j < n->n_out; j++)
        if (n->out[j] != 0 && hg_graph_value(g, n->out[j])->n_uses != 0) return true;
    return false;
}

/* Nodes of older versions get the current meaning, once everything that uses them is there. That
 * takes types, so nodes are inferred on the way. */
static holo_status builder_upgrade(hg_graph *g, int32_t opset)
{
    const hg_node_id end = (hg_node_id)g->n_node;
    hg_node_id next, last = 0;
    for (hg_node_id id = 1; id < end; id++)
        if (builder_is_old(hg_graph_node(g, id)->op, opset)) last = id;
    for (hg_node_id id = hg_graph_region(g, HG_REGION_MAIN)->first; id != 0 && last != 0;
         id = next) {
        next = hg_graph_node(g, id)->next;
        if (id < end && builder_is_old(hg_graph_node(g, id)->op, opset)) {
            HG_TRY(hg_graph_node(g, id)->op->upgrade(g, id, opset));
            if (id == last) return HOLO_OK;
            if (hg_graph_node(g, id)->region == 0) continue;
            if (!builder_is_used(g, hg_graph_node(g, id))) {
                hg_graph_remove_node(g, id);
                continue;
            }
        }
        HG_TRY(hg_op_infer(g, id));
    }
    return HOLO_OK;
}

static holo_status builder_replay(hg_graph *g, const holo_graph *from)
{
    hg_value_id *value;
    uint32_t n_value = 0;
    HG_TRY(HG_NEW(g->ctx, from->n_value + 1, &value));
    for (size_t i = 0; i < from->n_call; i++) {
        const builder_call *call = &from->call[i];
        hg_type type = {.dtype = call->tensor.dtype};
        switch (call->kind) {
        case BUILDER_INPUT:
            HG_TRY(builder_parse_dims(g, call, &type));
            HG_TRY(
                hg_graph_add_region_input(g, HG_REGION_MAIN, call->name, type, &value[++n_value]));
            break;
        case BUILDER_CONST: HG_TRY(builder_const(g, &call->tensor, &value[++n_value])); break;
        case BUILDER_NODE: HG_TRY(builder_node(g, call, value, &n_value)); break;
        }
    }
    for (size_t i = 0; i < from->n_output; i++)
        HG_TRY(hg_graph_add_region_output(g, HG_REGION_MAIN, from->output[i].name,
                                          value[from->output[i].value]));
    return builder_upgrade(g, from->opset);
}

static holo_status builder_fill(hg_compile *c, const hg_source *s)
{
    HG_TRY(hg_graph_init(&c->model[0].graph, &c->ctx));
    HG_TRY(builder_replay(&c->model[0].graph, s->graph));
    c->model[0].graph.name = hg_str_from("graph");
    return hg_compile_model_run(c, &c->model[0]);
}

holo_status holo_compile_graph(const holo_graph *graph, const holo_compile_options *options,
                               void **out_data, size_t *out_size, holo_compile_report *report,
                               holo_error *error)
{
    hg_compile c;
    if (graph->error.status != HOLO_OK)
        return hg_fail(error, graph->error.status, "%s", graph->error.message);
    if (graph->n_output == 0) return hg_fail(error, HOLO_E_ARG, "the graph has no output");
    const hg_source source = {.fill = builder_fill, .graph = graph};
    holo_status status = hg_compile_init(&c, options, 1, error);
    if (status == HOLO_OK) status = hg_compile_fill(&c, &source);
    if (status == HOLO_OK) status = hg_compile_to_memory(&c, out_data, out_size);
    if (status == HOLO_OK && report != NULL) *report = c.report;
    hg_compile_deinit(&c);
    return status;
}
