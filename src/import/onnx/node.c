/* node.c - NodeProto becomes a node: operator, inputs, attributes, bodies, outputs. */
#include "import/onnx/importer.h"

#include <inttypes.h>

/* ---- outputs --------------------------------------------------------------------------------- */

/* What the model declares about a value inside, if anything: HOLO_COMPILE_STRIP_SHAPES forgets it.
 */
static holo_status node_apply_hint(hg_importer *im, const hg_frame *frame, hg_str name,
                                   hg_value_id value)
{
    const uint32_t at = hg_map_get(&frame->hints, name);
    const hg_value *v = hg_graph_value(im->g, value);
    hg_onnx_value_info info;
    hg_type type;
    if (at == 0 || v->constant != NULL || v->type.dtype != HOLO_NONE) return HOLO_OK;
    HG_TRY(hg_onnx_read_value_info(&im->source, frame->hint[at - 1], &info));
    if (!hg_onnx_has(info.has, HG_ONNX_VALUE_INFO_TYPE)) return HOLO_OK;
    HG_TRY(hg_declare_hint(im, info.type, &type));
    hg_graph_value(im->g, value)->type = type;
    return HOLO_OK;
}

holo_status hg_import_output(hg_importer *im, hg_frame *frame, hg_str name, hg_value_id value)
{
    if (name.length == 0) return HOLO_OK;
    HG_TRY(hg_import_define(im, frame, name, value));
    return value == HG_VALUE_ABSENT ? HOLO_OK : node_apply_hint(im, frame, name, value);
}

/* Number of entries up to the last name that is not empty. */
static holo_status node_count_names(const hg_importer *im, hg_wire_list names, const char *what,
                                    uint32_t *out)
{
    hg_wire item;
    uint32_t at = 0;
    *out = 0;
    if (names.count > UINT32_MAX / 2)
        return hg_import_fail(im, HOLO_E_LIMIT, "%zu %s are too many", names.count, what);
    while (hg_wire_list_next(&names, &item)) {
        at++;
        if (hg_wire_size(item) != 0) *out = at;
    }
    return HOLO_OK;
}

/* Outputs without a name are wanted by nobody. */
static holo_status node_name_outputs(hg_importer *im, hg_frame *frame, hg_wire_list names,
                                     hg_node_id id)
{
    hg_wire item = {0};
    for (uint32_t i = 0; i < hg_graph_node(im->g, id)->n_out; i++) {
        (void)hg_wire_list_next(&names, &item);
        hg_value_id *out = &hg_graph_node(im->g, id)->out[i];
        hg_value *value = hg_graph_value(im->g, *out);
        const hg_str name = hg_onnx_text(item);
        if (name.length == 0) {
            value->node = 0;
            *out = 0;
            continue;
        }
        HG_TRY(hg_import_full_name(im, frame, name, &value->name));
        HG_TRY(hg_import_output(im, frame, name, *out));
    }
    return HOLO_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Fills im->in. */
static holo_status node_read_inputs(hg_importer *im, const hg_frame *frame, hg_wire_list names,
                                    uint32_t *count)
{
    hg_wire item;
    HG_TRY(node_count_names(im, names, "inputs", count));
    if (*count > im->in_capacity) {
        im->in_capacity = *count;
        im->in = hg_arena_array(&im->ctx->scratch, *count, sizeof *im->in);
        if (im->in == NULL) return hg_fail_nomem(im->ctx->error, *count);
    }
    for (uint32_t i = 0; i < *count && hg_wire_list_next(&names, &item); i++) {
        const hg_str name = hg_onnx_text(item);
        const hg_value_id value = name.length == 0 ? HG_VALUE_ABSENT : hg_import_find(frame, name);
        if (value == 0)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "input %u, '%.*s', is defined by no node, input or initializer",
                                  i, HG_STR_ARG(hg_import_shown(name)));
        im->in[i] = value == HG_VALUE_ABSENT ? 0 : value;
    }
    return HOLO_OK;
}

/* ---- attributes and bodies ------------------------------------------------------------------- */

typedef struct node_parts {
    hg_attr *attr;
    uint32_t n_attr;
    hg_import_attribute body[HG_MAX_BODY]; /* without frame: absent */
} node_parts;

static holo_status node_read_graph(hg_importer *im, const hg_op *op, const hg_import_attribute *a,
                                   node_parts *parts)
{
    for (uint32_t i = 0; i < op->n_body; i++) {
        if (!hg_str_is(a->view.name, op->body[i])) continue;
        if (parts->body[i].frame != NULL)
            return hg_import_fail(im, HOLO_E_MODEL, "graph '%s' is there twice", op->body[i]);
        parts->body[i] = *a;
        return HOLO_OK;
    }
    return hg_import_fail(im, HOLO_E_MODEL,
                          "attribute '%.*s' is a graph, expected no graph of that name",
                          HG_STR_ARG(a->view.name));
}

static holo_status node_check_repeated(hg_importer *im, const node_parts *parts, hg_str name)
{
    for (uint32_t i = 0; i < parts->n_attr; i++)
        if (hg_str_equal(parts->attr[i].name, name))
            return hg_import_fail(im, HOLO_E_MODEL, "attribute '%.*s' is there twice",
                                  HG_STR_ARG(name));
    return HOLO_OK;
}

static holo_status node_read_attributes(hg_importer *im, const hg_frame *frame, const hg_op *op,
                                        hg_wire_list list, node_parts *parts)
{
    hg_wire message;
    if (list.count > HG_IMPORT_MAX_ATTRIBUTES)
        return hg_import_fail(im, HOLO_E_LIMIT, "%zu attributes, at most %d are allowed",
                              list.count, (int)HG_IMPORT_MAX_ATTRIBUTES);
    if (list.count > 0) HG_TRY(HG_NEW(im->ctx, list.count, &parts->attr));
    while (hg_wire_list_next(&list, &message)) {
        hg_import_attribute a;
        bool is_present;
        HG_TRY(hg_attribute_read(im, frame, message, &a, &is_present));
        if (!is_present) continue;
        if (a.view.type == HG_ONNX_GRAPH) {
            HG_TRY(node_read_graph(im, op, &a, parts));
            continue;
        }
        HG_TRY(node_check_repeated(im, parts, a.view.name));
        HG_TRY(hg_attribute_convert(im, &a, &parts->attr[parts->n_attr]));
        parts->n_attr++;
    }
    return HOLO_OK;
}

static holo_status node_add_input(hg_importer *im, const hg_frame *frame, const hg_attr *a,
                                  hg_str name, uint32_t *count)
{
    const hg_value_id value = hg_import_find(frame, name);
    if (value == 0 || value == HG_VALUE_ABSENT)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "attribute '%.*s' names '%.*s', which no node, input or initializer "
                              "defines",
                              HG_STR_ARG(a->name), HG_STR_ARG(hg_import_shown(name)));
    hg_value_id *grown =
        hg_arena_grow(&im->ctx->scratch, im->in, *count, &im->in_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(im->ctx->error, sizeof *grown);
    im->in = grown;
    im->in[(*count)++] = value;
    return HOLO_OK;
}

/* Values that attributes name follow the inputs: from here on they are known by more than names. */
static holo_status node_read_named(hg_importer *im, const hg_frame *frame, const hg_op *op,
                                   const node_parts *parts, uint32_t *count)
{
    for (size_t k = 0; k < HG_COUNT(op->named) && op->named[k] != NULL; k++)
        for (uint32_t i = 0; i < parts->n_attr; i++) {
            const hg_attr *a = &parts->attr[i];
            if (!hg_str_is(a->name, op->named[k])) continue;
            if (a->kind == HG_ATTR_STRING) HG_TRY(node_add_input(im, frame, a, a->s, count));
            for (size_t j = 0; a->kind == HG_ATTR_STRINGS && j < a->count; j++)
                HG_TRY(node_add_input(im, frame, a, a->strings[j], count));
        }
    return HOLO_OK;
}

static holo_status node_check_bodies(const hg_importer *im, const hg_op *op,
                                     const node_parts *parts)
{
    if ((op->flags & HG_OP_BODY_OPTIONAL) != 0) return HOLO_OK;
    for (uint32_t i = 0; i < op->n_body; i++)
        if (parts->body[i].frame == NULL)
            return hg_import_fail(im, HOLO_E_MODEL, "it has no graph '%s'", op->body[i]);
    return HOLO_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* An operator of an older opset waits for its upgrade until the graph is whole. */
static holo_status node_note_version(hg_importer *im, const hg_op *op, hg_node_id id, int32_t opset)
{
    const int32_t current = op->version != 0 ? op->version : op->since;
    if (op->upgrade == NULL || opset >= current) return HOLO_OK;
    hg_pending *grown = hg_arena_grow(&im->ctx->scratch, im->pending, im->n_pending,
                                      &im->pending_capacity, sizeof *grown);
    if (grown == NULL) return hg_fail_nomem(im->ctx->error, sizeof *grown);
    im->pending = grown;
    im->pending[im->n_pending++] = (hg_pending){id, opset};
    return HOLO_OK;
}

static holo_status node_check_version(const hg_importer *im, const hg_frame *frame, const hg_op *op,
                                      hg_str domain, int32_t *opset)
{
    *opset = hg_import_opset(im, frame, domain);
    if (*opset == 0)
        return hg_import_fail(im, HOLO_E_MODEL, "its domain '%.*s' is not among the opset imports",
                              HG_STR_ARG(hg_import_shown(domain)));
    if (*opset < op->since && (op->flags & HG_OP_ANY_OPSET) == 0)
        return hg_import_fail(im, HOLO_E_MODEL,
                              "opset %d has no such operator, it came with opset %d", *opset,
                              op->since);
    return HOLO_OK;
}

static holo_status node_add(hg_importer *im, hg_frame *frame, const hg_onnx_node *node,
                            const hg_op *op)
{
    node_parts parts = {0};
    hg_node_id id;
    int32_t opset;
    hg_node_spec spec = {.op = op, .n_body = op->n_body};
    HG_TRY(node_check_version(im, frame, op, node->domain, &opset));
    HG_TRY(node_read_attributes(im, frame, op, node->attribute, &parts));
    HG_TRY(node_check_bodies(im, op, &parts));
    HG_TRY(hg_import_full_name(im, frame, node->name, &spec.name));
    HG_TRY(node_read_inputs(im, frame, node->input, &spec.n_in));
    HG_TRY(node_read_named(im, frame, op, &parts, &spec.n_in));
    HG_TRY(node_count_names(im, node->output, "outputs", &spec.n_out));
    /* Unnamed outputs at the end are left out, unless the operator always has them. */
    spec.n_out = (uint32_t)hg_max(spec.n_out, hg_min((int64_t)node->output.count, op->out.min));
    spec.in = im->in;
    spec.attr = parts.attr;
    spec.n_attr = parts.n_attr;
    HG_TRY(hg_graph_add_node(im->g, frame->region, 0, &spec, &id));
    for (uint32_t i = 0; i < op->n_body; i++)
        if (parts.body[i].frame != NULL)
            HG_TRY(hg_import_body(im, parts.body[i].frame, parts.body[i].view.g,
                                  hg_graph_node(im->g, id)->body[i]));
    HG_TRY(node_name_outputs(im, frame, node->output, id));
    return node_note_version(im, op, id, opset);
}

static holo_status node_add_constant(hg_importer *im, hg_frame *frame, const hg_onnx_node *node)
{
    hg_wire_list names = node->output;
    hg_wire output;
    hg_str name;
    hg_value_id value;
    if (node->input.count != 0 || names.count != 1 || !hg_wire_list_next(&names, &output))
        return hg_import_fail(im, HOLO_E_MODEL, "%zu inputs and %zu outputs, expected 0 and 1",
                              node->input.count, node->output.count);
    HG_TRY(hg_import_full_name(im, frame, hg_onnx_text(output), &name));
    HG_TRY(hg_attribute_constant(im, frame, node->attribute, name, &value));
    return hg_import_output(im, frame, hg_onnx_text(output), value);
}

/* Goes on, so that one compile names everything that is missing; also inside its bodies. */
static holo_status node_add_unknown(hg_importer *im, hg_frame *frame, const hg_onnx_node *node,
                                    hg_callee *callee)
{
    hg_wire_list list = node->attribute;
    hg_wire item;
    if (callee->n_nodes++ == 0) callee->first = hg_import_shown(im->where_name);
    while (hg_wire_list_next(&list, &item)) {
        hg_import_attribute a;
        bool is_present;
        hg_region_id region;
        HG_TRY(hg_attribute_read(im, frame, item, &a, &is_present));
        if (!is_present || a.view.type != HG_ONNX_GRAPH) continue;
        HG_TRY(hg_graph_add_region(im->g, 0, &region));
        HG_TRY(hg_import_body(im, a.frame, a.view.g, region));
    }
    for (list = node->output; hg_wire_list_next(&list, &item);) {
        hg_value_id value;
        const hg_type unknown = {.rank = HG_RANK_UNKNOWN};
        HG_TRY(hg_graph_add_value(im->g, hg_onnx_text(item), unknown, &value));
        HG_TRY(hg_import_output(im, frame, hg_onnx_text(item), value));
    }
    return HOLO_OK;
}

static bool node_is_constant(const hg_onnx_node *node)
{
    return hg_str_is(node->op_type, "Constant") &&
           (node->domain.length == 0 || hg_str_is(node->domain, "ai.onnx"));
}

static holo_status node_import(hg_importer *im, hg_frame *frame, const hg_onnx_node *node)
{
    hg_callee *callee;
    if (node->op_type.length == 0) return hg_import_fail(im, HOLO_E_MODEL, "it has no operator");
    HG_TRY(hg_import_check_name(im, "name of a node", node->name));
    HG_TRY(hg_function_callee(im, node, &callee));
    if (callee->function != NULL) return hg_function_inline(im, frame, node, callee->function);
    if (node_is_constant(node)) return node_add_constant(im, frame, node);
    if (callee->op != NULL) return node_add(im, frame, node, callee->op);
    return node_add_unknown(im, frame, node, callee);
}

/* How sentences call a node. */
static hg_str node_label(const hg_onnx_node *node)
{
    hg_wire_list names = node->output;
    hg_wire item = {0};
    if (node->name.length != 0) return node->name;
    while (hg_wire_list_next(&names, &item) && hg_wire_size(item) == 0)
        ;
    return hg_onnx_text(item);
}

/* The same few bytes of a function can be asked for very often. */
static holo_status node_count_inlined(hg_importer *im, const hg_frame *frame, hg_wire message)
{
    if (frame->call == NULL) return HOLO_OK;
    im->n_inlined++;
    im->inlined_bytes += hg_wire_size(message);
    if (im->n_inlined <= HG_IMPORT_MAX_INLINED && im->inlined_bytes <= HG_IMPORT_MAX_INLINED_BYTES)
        return HOLO_OK;
    return hg_import_fail(im, HOLO_E_LIMIT, "functions make more than %d nodes or 4 GiB of them",
                          (int)HG_IMPORT_MAX_INLINED);
}

holo_status hg_import_nodes(hg_importer *im, hg_frame *frame, hg_wire_list nodes)
{
    hg_wire *order;
    HG_TRY(hg_order_nodes(im, frame, nodes, &order));
    for (size_t i = 0; i < nodes.count; i++) {
        const char *where = im->where;
        const hg_str name = im->where_name, op = im->where_op;
        hg_onnx_node node;
        HG_TRY(hg_onnx_read_node(&im->source, order[i], &node));
        HG_TRY(node_count_inlined(im, frame, order[i]));
        im->where = "node";
        im->where_name = node_label(&node);
        im->where_op = node.op_type;
        HG_TRY(node_import(im, frame, &node));
        im->where = where;
        im->where_name = name;
        im->where_op = op;
    }
    return HOLO_OK;
}
