/* order.c - puts the nodes of a list in an order where producers come first.
 *
 * The standard demands that order, and nearly all files have it; then it is kept as it is.
 * Otherwise each node is placed after the producers it waits for, in the order of the file, in
 * linear time. What the bodies of a node take from outside counts as its input. */
#include "import/onnx/importer.h"

/* Names defined inside a body, hidden from the list under work. */
typedef struct order_scope {
    hg_map names;
    const struct order_scope *outer;
} order_scope;

typedef struct order_state {
    hg_importer *im;
    hg_map producer; /* name to the place of its node, plus 1 */
    hg_wire *node;
    size_t count;
    uint32_t user;   /* the node whose inputs are visited */
    bool is_sorted;  /* first visit: every producer came before */
    uint32_t *first; /* later visits: producers of node i are edge[first[i]], ... */
    uint32_t *edge;
    bool is_counting;
} order_state;

/* ---- what a node uses ------------------------------------------------------------------------ */

static void order_use(order_state *o, const order_scope *scope, hg_str name)
{
    for (; scope != NULL; scope = scope->outer)
        if (hg_map_get(&scope->names, name) != 0) return;
    const uint32_t producer = hg_map_get(&o->producer, name);
    if (producer == 0) return;
    if (producer > o->user) o->is_sorted = false;
    if (o->first == NULL) return;
    if (!o->is_counting) o->edge[o->first[o->user]] = producer - 1;
    o->first[o->user]++;
}

static holo_status order_hide(order_state *o, order_scope *scope, hg_str name)
{
    if (name.length == 0 || hg_map_set(&scope->names, name, 1)) return HOLO_OK;
    return hg_fail_nomem(o->im->ctx->error, name.length);
}

/* The names a body defines itself. */
static holo_status order_hide_own(order_state *o, order_scope *scope, const hg_onnx_graph *graph)
{
    const hg_onnx_source *s = &o->im->source;
    hg_wire_list list = graph->input;
    hg_wire item, name;
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_value_info input;
        HG_TRY(hg_onnx_read_value_info(s, item, &input));
        HG_TRY(order_hide(o, scope, input.name));
    }
    for (list = graph->initializer; hg_wire_list_next(&list, &item);) {
        hg_onnx_tensor tensor;
        HG_TRY(hg_onnx_read_tensor(s, item, &tensor));
        HG_TRY(order_hide(o, scope, tensor.name));
    }
    for (list = graph->node; hg_wire_list_next(&list, &item);) {
        hg_onnx_node node;
        HG_TRY(hg_onnx_read_node(s, item, &node));
        while (hg_wire_list_next(&node.output, &name))
            HG_TRY(order_hide(o, scope, hg_onnx_text(name)));
    }
    return HOLO_OK;
}

static holo_status order_visit_node(order_state *o, const order_scope *scope, hg_wire message,
                                    uint32_t depth);

static holo_status order_visit_body(order_state *o, const order_scope *outer, hg_wire message,
                                    uint32_t depth)
{
    hg_importer *im = o->im;
    order_scope scope = {.outer = outer};
    hg_onnx_graph graph;
    hg_wire item;
    if (depth > hg_import_nesting(im))
        return hg_import_fail(im, HOLO_E_LIMIT, "graphs are nested deeper than %u",
                              hg_import_nesting(im));
    hg_map_init(&scope.names, &im->ctx->scratch);
    HG_TRY(hg_onnx_read_graph(&im->source, message, &graph));
    HG_TRY(order_hide_own(o, &scope, &graph));
    while (hg_wire_list_next(&graph.node, &item))
        HG_TRY(order_visit_node(o, &scope, item, depth));
    while (hg_wire_list_next(&graph.output, &item)) {
        hg_onnx_value_info output;
        HG_TRY(hg_onnx_read_value_info(&im->source, item, &output));
        order_use(o, &scope, output.name);
    }
    return HOLO_OK;
}

/* A text attribute of the operator names values, as if they were inputs. */
static bool order_is_named(const hg_op *op, hg_str attribute)
{
    for (size_t k = 0; op != NULL && k < HG_COUNT(op->named) && op->named[k] != NULL; k++)
        if (hg_str_is(attribute, op->named[k])) return true;
    return false;
}

static holo_status order_visit_node(order_state *o, const order_scope *scope, hg_wire message,
                                    uint32_t depth)
{
    const hg_onnx_source *s = &o->im->source;
    hg_onnx_node node;
    hg_wire item;
    HG_TRY(hg_onnx_read_node(s, message, &node));
    while (hg_wire_list_next(&node.input, &item))
        order_use(o, scope, hg_onnx_text(item));
    /* None of those is in the domain of nearly all nodes, which are many. */
    const hg_op *op = node.domain.length == 0 ? NULL : hg_op_find(node.domain, node.op_type);
    while (hg_wire_list_next(&node.attribute, &item)) {
        hg_onnx_attribute a;
        HG_TRY(hg_onnx_read_attribute(s, item, &a));
        if (a.type == HG_ONNX_GRAPH) HG_TRY(order_visit_body(o, scope, a.g, depth + 1));
        if (!order_is_named(op, a.name)) continue;
        if (a.type == HG_ONNX_STRING) order_use(o, scope, a.s);
        while (a.type == HG_ONNX_STRINGS && hg_wire_list_next(&a.strings, &item))
            order_use(o, scope, hg_onnx_text(item));
    }
    return HOLO_OK;
}

static holo_status order_visit_all(order_state *o)
{
    for (size_t i = 0; i < o->count; i++) {
        o->user = (uint32_t)i;
        HG_TRY(order_visit_node(o, NULL, o->node[i], 0));
    }
    return HOLO_OK;
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* Fills first and edge. */
static holo_status order_build_edges(order_state *o)
{
    hg_ctx *ctx = o->im->ctx;
    uint32_t total = 0;
    o->first = hg_arena_array(&ctx->scratch, o->count + 1, sizeof *o->first);
    if (o->first == NULL) return hg_fail_nomem(ctx->error, o->count);
    o->is_counting = true;
    HG_TRY(order_visit_all(o));
    for (size_t i = 0; i <= o->count; i++) { /* counts to beginnings */
        const uint32_t n = o->first[i];
        o->first[i] = total;
        total += n;
    }
    o->edge = hg_arena_array(&ctx->scratch, (size_t)total + 1, sizeof *o->edge);
    if (o->edge == NULL) return hg_fail_nomem(ctx->error, total);
    o->is_counting = false;
    HG_TRY(order_visit_all(o)); /* moves each beginning to its end, */
    for (size_t i = o->count; i > 0; i--)
        o->first[i] = o->first[i - 1]; /* which is the beginning of the next */
    o->first[0] = 0;
    return HOLO_OK;
}

static holo_status order_fail_cycle(order_state *o, uint32_t at)
{
    hg_onnx_node node;
    HG_TRY(hg_onnx_read_node(&o->im->source, o->node[at], &node));
    hg_wire output = {0};
    (void)hg_wire_list_next(&node.output, &output);
    const hg_str name = node.name.length != 0 ? node.name : hg_onnx_text(output);
    return hg_import_fail(o->im, HOLO_E_MODEL, "the nodes form a cycle through node '%.*s' (%.*s)",
                          HG_STR_ARG(hg_import_shown(name)),
                          HG_STR_ARG(hg_import_shown(node.op_type)));
}

/* Depth first from each node in turn, with a stack of our own. */
static holo_status order_sort(order_state *o, hg_wire *out)
{
    enum { NEW = 0, OPEN = 1, DONE = 2 };
    hg_arena *scratch = &o->im->ctx->scratch;
    uint8_t *mark = hg_arena_array(scratch, o->count + 1, sizeof *mark);
    uint32_t *stack = hg_arena_array(scratch, o->count + 1, sizeof *stack);
    uint32_t *next = hg_arena_array(scratch, o->count + 1, sizeof *next); /* edge to follow */
    if (mark == NULL || stack == NULL || next == NULL)
        return hg_fail_nomem(o->im->ctx->error, o->count);
    size_t n_out = 0;
    for (uint32_t root = 0; root < o->count; root++) {
        size_t depth = 0;
        if (mark[root] == NEW) stack[depth++] = root;
        while (depth > 0) {
            const uint32_t at = stack[depth - 1];
            if (mark[at] == NEW) next[at] = o->first[at];
            mark[at] = OPEN;
            if (next[at] < o->first[at + 1]) {
                const uint32_t to = o->edge[next[at]++];
                if (mark[to] == OPEN) return order_fail_cycle(o, to);
                if (mark[to] == NEW) stack[depth++] = to;
                continue;
            }
            mark[at] = DONE;
            out[n_out++] = o->node[at];
            depth--;
        }
    }
    return HOLO_OK;
}

/* A name that the graph has already, as an input, is found to be defined twice later. */
static holo_status order_read(order_state *o, const hg_frame *frame, hg_wire_list nodes)
{
    hg_ctx *ctx = o->im->ctx;
    hg_wire name;
    if (nodes.count > UINT32_MAX / 2)
        return hg_import_fail(o->im, HOLO_E_LIMIT, "%zu nodes are too many", nodes.count);
    o->node = hg_arena_array(&ctx->scratch, nodes.count + 1, sizeof *o->node);
    if (o->node == NULL) return hg_fail_nomem(ctx->error, nodes.count);
    while (hg_wire_list_next(&nodes, &o->node[o->count])) {
        hg_onnx_node node;
        HG_TRY(hg_onnx_read_node(&o->im->source, o->node[o->count++], &node));
        while (hg_wire_list_next(&node.output, &name)) {
            const hg_str text = hg_onnx_text(name);
            if (text.length == 0 || hg_map_get(&frame->names, text) != 0) continue;
            if (!hg_map_set(&o->producer, text, (uint32_t)o->count))
                return hg_fail_nomem(ctx->error, text.length);
        }
    }
    return HOLO_OK;
}

holo_status hg_order_nodes(hg_importer *im, const hg_frame *frame, hg_wire_list nodes,
                           hg_wire **out)
{
    order_state o = {.im = im, .is_sorted = true};
    hg_map_init(&o.producer, &im->ctx->scratch);
    HG_TRY(order_read(&o, frame, nodes));
    HG_TRY(order_visit_all(&o));
    *out = o.node;
    if (o.is_sorted) return HOLO_OK;
    HG_TRY(order_build_edges(&o));
    *out = hg_arena_array(&im->ctx->scratch, o.count + 1, sizeof **out);
    if (*out == NULL) return hg_fail_nomem(im->ctx->error, o.count);
    return order_sort(&o, *out);
}
