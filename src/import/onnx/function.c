/* function.c - functions of the model: finding them, and putting their bodies in place of calls. */
#include "import/onnx/importer.h"

/* ---- what an operator name stands for -------------------------------------------------------- */

/* "domain:name:overload" in im->key. */
static holo_status function_key(hg_importer *im, hg_str domain, hg_str name, hg_str overload,
                                hg_str *out)
{
    if (hg_str_is(domain, "ai.onnx")) domain.length = 0;
    HG_TRY(hg_import_check_name(im, "domain", domain));
    HG_TRY(hg_import_check_name(im, "name of an operator", name));
    HG_TRY(hg_import_check_name(im, "overload of an operator", overload));
    const size_t length = domain.length + name.length + overload.length + 2;
    if (length > im->key_capacity) {
        im->key_capacity = 2 * length;
        im->key = hg_arena_alloc(&im->ctx->scratch, im->key_capacity);
        if (im->key == NULL) return hg_fail_nomem(im->ctx->error, length);
    }
    char *to = im->key;
    const hg_str part[] = {domain, {":", 1}, name, {":", 1}, overload};
    for (size_t i = 0; i < HG_COUNT(part); i++) {
        if (part[i].length != 0) memcpy(to, part[i].text, part[i].length);
        to += part[i].length;
    }
    *out = (hg_str){im->key, length};
    return HOLO_OK;
}

static holo_status function_add_callee(hg_importer *im, hg_str key, hg_callee callee,
                                       uint32_t *place)
{
    hg_arena *scratch = &im->ctx->scratch;
    key = hg_str_copy(scratch, key);
    hg_callee *grown =
        hg_arena_grow(scratch, im->callee, im->n_callee, &im->callee_capacity, sizeof *grown);
    if (key.text == NULL || grown == NULL) return hg_fail_nomem(im->ctx->error, sizeof *grown);
    im->callee = grown;
    im->callee[im->n_callee++] = callee;
    *place = (uint32_t)im->n_callee;
    return hg_map_set(&im->callee_of, key, *place) ? HOLO_OK
                                                   : hg_fail_nomem(im->ctx->error, key.length);
}

holo_status hg_function_callee(hg_importer *im, const hg_onnx_node *node, hg_callee **out)
{
    hg_str key = {0};
    HG_TRY(function_key(im, node->domain, node->op_type, node->overload, &key));
    uint32_t place = hg_map_get(&im->callee_of, key);
    if (place == 0) {
        hg_callee callee = {.domain = node->domain, .name = node->op_type};
        if (node->overload.length == 0) callee.op = hg_op_find(node->domain, node->op_type);
        if (callee.op != NULL && (callee.op->flags & HG_OP_INTERNAL) != 0) callee.op = NULL;
        HG_TRY(function_add_callee(im, key, callee, &place));
    }
    *out = &im->callee[place - 1];
    return HOLO_OK;
}

static holo_status function_read_attributes(hg_importer *im, hg_wire_list list,
                                            hg_named_attributes *out)
{
    hg_arena *scratch = &im->ctx->scratch;
    hg_wire item;
    if (list.count > HG_IMPORT_MAX_ATTRIBUTES)
        return hg_import_fail(im, HOLO_E_LIMIT, "%zu attributes, at most %d are allowed",
                              list.count, (int)HG_IMPORT_MAX_ATTRIBUTES);
    *out = (hg_named_attributes){.name = hg_arena_array(scratch, list.count + 1, sizeof *out->name),
                                 .message =
                                     hg_arena_array(scratch, list.count + 1, sizeof *out->message)};
    if (out->name == NULL || out->message == NULL) return hg_fail_nomem(im->ctx->error, list.count);
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_attribute view;
        HG_TRY(hg_onnx_read_attribute(&im->source, item, &view));
        out->name[out->count] = view.name;
        out->message[out->count++] = item;
    }
    return HOLO_OK;
}

holo_status hg_function_read_all(hg_importer *im)
{
    hg_wire_list list = im->model.functions;
    hg_wire item;
    while (hg_wire_list_next(&list, &item)) {
        hg_function *f = hg_arena_alloc(&im->ctx->scratch, sizeof *f);
        hg_str key = {0};
        uint32_t place = 0;
        if (f == NULL) return hg_fail_nomem(im->ctx->error, sizeof *f);
        HG_TRY(hg_onnx_read_function(&im->source, item, &f->view));
        im->where = "function";
        im->where_name = f->view.name;
        HG_TRY(function_key(im, f->view.domain, f->view.name, f->view.overload, &key));
        if (hg_map_get(&im->callee_of, key) != 0)
            return hg_import_fail(im, HOLO_E_MODEL, "it is defined twice");
        HG_TRY(function_read_attributes(im, f->view.attribute_proto, &f->defaults));
        HG_TRY(hg_import_read_opsets(im, f->view.opset_import, &f->opsets));
        HG_TRY(function_add_callee(im, key, (hg_callee){.function = f}, &place));
        im->where = NULL;
    }
    return HOLO_OK;
}

/* ---- inlining -------------------------------------------------------------------------------- */

static holo_status function_check_depth(const hg_importer *im, const hg_frame *frame,
                                        const hg_function *function)
{
    for (const hg_call *call = frame->call; call != NULL; call = call->caller->call)
        if (call->function == function)
            return hg_import_fail(im, HOLO_E_MODEL, "function '%.*s' calls itself",
                                  HG_STR_ARG(hg_import_shown(function->view.name)));
    if (frame->depth >= hg_import_nesting(im))
        return hg_import_fail(im, HOLO_E_LIMIT, "functions and graphs are nested deeper than %u",
                              hg_import_nesting(im));
    return HOLO_OK;
}

/* Names inside start with the name of the call, unless that would grow without bound. */
static holo_status function_prefix(hg_importer *im, const hg_frame *frame, hg_str label,
                                   hg_str *out)
{
    *out = frame->prefix;
    if (label.length == 0 || frame->prefix.length + label.length >= HG_IMPORT_MAX_PREFIX)
        return HOLO_OK;
    *out = hg_str_format(&im->ctx->arena, "%.*s%.*s/", (int)frame->prefix.length,
                         frame->prefix.text, (int)label.length, label.text);
    return out->text == NULL ? hg_fail_nomem(im->ctx->error, label.length) : HOLO_OK;
}

static holo_status function_bind_inputs(hg_importer *im, const hg_frame *caller, hg_frame *frame,
                                        const hg_onnx_node *node, const hg_function *function)
{
    hg_wire_list actual = node->input, formal = function->view.input;
    hg_wire name, given;
    if (actual.count > formal.count)
        return hg_import_fail(im, HOLO_E_MODEL, "%zu inputs, expected at most %zu", actual.count,
                              formal.count);
    for (size_t i = 0; hg_wire_list_next(&formal, &name); i++) {
        hg_value_id value = HG_VALUE_ABSENT;
        if (hg_wire_list_next(&actual, &given) && hg_wire_size(given) != 0)
            value = hg_import_find(caller, hg_onnx_text(given));
        if (value == 0)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  "input %zu, '%.*s', is defined by no node, input or initializer",
                                  i, HG_STR_ARG(hg_import_shown(hg_onnx_text(given))));
        HG_TRY(hg_import_define(im, frame, hg_onnx_text(name), value));
    }
    return HOLO_OK;
}

/* Values made inside take the names that the caller gives them. */
static holo_status function_bind_outputs(hg_importer *im, hg_frame *caller, const hg_frame *frame,
                                         const hg_onnx_node *node, const hg_function *function,
                                         size_t first_new)
{
    hg_wire_list actual = node->output, formal = function->view.output;
    hg_wire wanted, name;
    if (actual.count > formal.count)
        return hg_import_fail(im, HOLO_E_MODEL, "%zu outputs, expected at most %zu", actual.count,
                              formal.count);
    while (hg_wire_list_next(&actual, &wanted) && hg_wire_list_next(&formal, &name)) {
        const hg_value_id value = hg_import_find(frame, hg_onnx_text(name));
        if (hg_wire_size(wanted) == 0) continue;
        if (value == 0)
            return hg_import_fail(
                im, HOLO_E_MODEL, "function '%.*s' does not define its output '%.*s'",
                HG_STR_ARG(function->view.name), HG_STR_ARG(hg_import_shown(hg_onnx_text(name))));
        if (value != HG_VALUE_ABSENT && value >= first_new)
            HG_TRY(hg_import_full_name(im, caller, hg_onnx_text(wanted),
                                       &hg_graph_value(im->g, value)->name));
        HG_TRY(hg_import_output(im, caller, hg_onnx_text(wanted), value));
    }
    return HOLO_OK;
}

holo_status hg_function_inline(hg_importer *im, hg_frame *caller, const hg_onnx_node *node,
                               const hg_function *function)
{
    hg_call call = {.caller = caller, .function = function};
    hg_frame frame = {.call = &call,
                      .opsets = &function->opsets,
                      .region = caller->region,
                      .depth = caller->depth + 1};
    const size_t first_new = im->g->n_value;
    HG_TRY(function_check_depth(im, caller, function));
    hg_map_init(&frame.names, &im->ctx->scratch);
    hg_map_init(&frame.hints, &im->ctx->scratch);
    HG_TRY(function_prefix(im, caller, im->where_name, &frame.prefix));
    HG_TRY(function_read_attributes(im, node->attribute, &call.given));
    HG_TRY(function_bind_inputs(im, caller, &frame, node, function));
    HG_TRY(hg_import_nodes(im, &frame, function->view.node));
    return function_bind_outputs(im, caller, &frame, node, function, first_new);
}
