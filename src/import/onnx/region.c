/* region.c - GraphProto becomes a region: the model's graph, or the body of an If, Loop or Scan. */
#include "import/onnx/importer.h"

static holo_status region_enter(hg_importer *im, hg_frame *frame)
{
    const uint32_t most = hg_import_nesting(im);
    if (frame->depth > most)
        return hg_import_fail(im, HOLO_E_LIMIT, "functions and graphs are nested deeper than %u",
                              most);
    hg_map_init(&frame->names, &im->ctx->scratch);
    hg_map_init(&frame->hints, &im->ctx->scratch);
    return HOLO_OK;
}

/* ---- hints ----------------------------------------------------------------------------------- */

static holo_status region_note_hints(hg_importer *im, hg_frame *frame, hg_wire_list list,
                                     uint32_t *count)
{
    hg_wire item;
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_value_info info;
        HG_TRY(hg_onnx_read_value_info(&im->source, item, &info));
        frame->hint[(*count)++] = item;
        if (info.name.length != 0 && !hg_map_set(&frame->hints, info.name, *count))
            return hg_fail_nomem(im->ctx->error, info.name.length);
    }
    return HOLO_OK;
}

/* What is declared about outputs counts more than what is declared about values inside. */
static holo_status region_read_hints(hg_importer *im, hg_frame *frame, const hg_onnx_graph *graph)
{
    uint32_t count = 0;
    if ((im->ctx->flags & HOLO_COMPILE_STRIP_SHAPES) != 0) return HOLO_OK;
    if (graph->value_info.count + graph->output.count >= UINT32_MAX)
        return hg_import_fail(im, HOLO_E_LIMIT, "too many values are declared");
    frame->hint = hg_arena_array(
        &im->ctx->scratch, graph->value_info.count + graph->output.count + 1, sizeof *frame->hint);
    if (frame->hint == NULL) return hg_fail_nomem(im->ctx->error, graph->value_info.count);
    HG_TRY(region_note_hints(im, frame, graph->value_info, &count));
    return region_note_hints(im, frame, graph->output, &count);
}

/* ---- initializers ---------------------------------------------------------------------------- */

static void region_where(hg_importer *im, const char *where, hg_str name)
{
    im->where = where;
    im->where_name = name;
    im->where_op = (hg_str){0};
}

/* In a body, an input of the same name hides an initializer. */
static bool region_is_input(const hg_importer *im, const hg_frame *frame, hg_str name)
{
    const hg_value_id value = hg_map_get(&frame->names, name);
    return value != 0 && hg_graph_value(im->g, value)->region == frame->region;
}

static holo_status region_add_initializers(hg_importer *im, hg_frame *frame, hg_wire_list list)
{
    hg_wire item;
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_tensor tensor;
        hg_value_id value;
        hg_str name;
        HG_TRY(hg_onnx_read_tensor(&im->source, item, &tensor));
        region_where(im, "initializer", tensor.name);
        if (tensor.name.length == 0) return hg_import_fail(im, HOLO_E_MODEL, "it has no name");
        if (region_is_input(im, frame, tensor.name)) continue;
        HG_TRY(hg_import_full_name(im, frame, tensor.name, &name));
        HG_TRY(hg_import_tensor(im, item, name, &value));
        HG_TRY(hg_import_define(im, frame, tensor.name, value));
    }
    return HOLO_OK;
}

static holo_status region_add_sparse(hg_importer *im, hg_frame *frame, hg_wire_list list)
{
    hg_wire item;
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_sparse sparse;
        hg_onnx_tensor values;
        hg_value_id value;
        hg_str name;
        HG_TRY(hg_onnx_read_sparse(&im->source, item, &sparse));
        HG_TRY(hg_onnx_read_tensor(&im->source, sparse.values, &values));
        region_where(im, "initializer", values.name);
        if (values.name.length == 0) return hg_import_fail(im, HOLO_E_MODEL, "it has no name");
        if (region_is_input(im, frame, values.name)) continue;
        HG_TRY(hg_import_full_name(im, frame, values.name, &name));
        HG_TRY(hg_import_sparse(im, item, name, &value));
        HG_TRY(hg_import_define(im, frame, values.name, value));
    }
    return HOLO_OK;
}

/* ---- inputs of the model --------------------------------------------------------------------- */

/* Inputs that have an initializer are constants: old models list all their weights as inputs. */
static holo_status region_next_input(hg_importer *im, const hg_frame *frame, hg_wire_list *list,
                                     hg_onnx_value_info *input, bool *is_there)
{
    hg_wire item;
    while (hg_wire_list_next(list, &item)) {
        HG_TRY(hg_onnx_read_value_info(&im->source, item, input));
        region_where(im, "input", input->name);
        if (input->name.length == 0) return hg_import_fail(im, HOLO_E_MODEL, "it has no name");
        const hg_value_id value = hg_map_get(&frame->names, input->name);
        if (value != 0 && hg_graph_is_const(im->g, value)) continue;
        HG_TRY(hg_import_check_name(im, "name of an input", input->name));
        *is_there = true;
        return HOLO_OK;
    }
    *is_there = false;
    return HOLO_OK;
}

static holo_status region_add_inputs(hg_importer *im, hg_frame *frame, hg_wire_list list)
{
    hg_wire_list again = list;
    hg_onnx_value_info input;
    hg_value_id value;
    hg_type type;
    bool is_there = false;
    HG_TRY(region_next_input(im, frame, &list, &input, &is_there));
    while (is_there) {
        HG_TRY(hg_declare_note_input(im, &input));
        HG_TRY(region_next_input(im, frame, &list, &input, &is_there));
    }
    HG_TRY(region_next_input(im, frame, &again, &input, &is_there));
    while (is_there) {
        HG_TRY(hg_declare_input(im, &input, &type));
        HG_TRY(hg_graph_add_region_input(im->g, frame->region, input.name, type, &value));
        HG_TRY(hg_import_define(im, frame, input.name, value));
        hg_declare_bind(im, value);
        HG_TRY(region_next_input(im, frame, &again, &input, &is_there));
    }
    return HOLO_OK;
}

/* ---- inputs of bodies ------------------------------------------------------------------------ */

/* Their types follow from the node around; what is declared is a hint. */
static holo_status region_add_body_inputs(hg_importer *im, hg_frame *frame, hg_wire_list list)
{
    hg_wire item;
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_value_info input;
        hg_type type = {.rank = HG_RANK_UNKNOWN};
        hg_value_id value;
        hg_str name;
        HG_TRY(hg_onnx_read_value_info(&im->source, item, &input));
        if (input.name.length == 0)
            return hg_import_fail(im, HOLO_E_MODEL, "an input of its graph has no name");
        HG_TRY(hg_import_check_name(im, "name of an input", input.name));
        HG_TRY(hg_declare_hint(im, input.type, &type));
        if ((im->ctx->flags & HOLO_COMPILE_STRIP_SHAPES) != 0 && type.dtype < HOLO_SEQUENCE)
            type = (hg_type){.dtype = type.dtype, .rank = HG_RANK_UNKNOWN};
        HG_TRY(hg_import_full_name(im, frame, input.name, &name));
        HG_TRY(hg_graph_add_region_input(im->g, frame->region, name, type, &value));
        HG_TRY(hg_import_define(im, frame, input.name, value));
    }
    return HOLO_OK;
}

/* ---- outputs
 * -----------------------------------------------------------------------------------------------
 */

static holo_status region_add_outputs(hg_importer *im, hg_frame *frame, hg_wire_list list)
{
    hg_wire item;
    hg_map seen;
    hg_map_init(&seen, &im->ctx->scratch);
    while (hg_wire_list_next(&list, &item)) {
        hg_onnx_value_info output;
        HG_TRY(hg_onnx_read_value_info(&im->source, item, &output));
        const hg_str name = output.name;
        const hg_value_id value = hg_import_find(frame, name);
        if (value == 0 || value == HG_VALUE_ABSENT)
            return hg_import_fail(im, HOLO_E_MODEL, "output '%.*s' is defined by no node",
                                  HG_STR_ARG(hg_import_shown(name)));
        /* A body may give the same value twice; the outputs of a model are found by name. */
        if (frame->region == HG_REGION_MAIN && hg_map_get(&seen, name) != 0)
            return hg_import_fail(im, HOLO_E_MODEL, "output '%.*s' is there twice",
                                  HG_STR_ARG(hg_import_shown(name)));
        if (!hg_map_set(&seen, name, 1)) return hg_fail_nomem(im->ctx->error, name.length);
        HG_TRY(hg_graph_add_region_output(im->g, frame->region, name, value));
    }
    return HOLO_OK;
}

/* ---- graphs
 * ------------------------------------------------------------------------------------------------
 */

holo_status hg_import_main(hg_importer *im)
{
    hg_frame frame = {.opsets = &im->opsets, .region = HG_REGION_MAIN};
    hg_onnx_graph graph;
    HG_TRY(region_enter(im, &frame));
    HG_TRY(hg_onnx_read_graph(&im->source, im->model.graph, &graph));
    HG_TRY(hg_import_check_name(im, "name of the graph", graph.name));
    if (im->g->name.length == 0) im->g->name = graph.name;
    HG_TRY(region_read_hints(im, &frame, &graph));
    HG_TRY(region_add_initializers(im, &frame, graph.initializer));
    HG_TRY(region_add_sparse(im, &frame, graph.sparse_initializer));
    HG_TRY(region_add_inputs(im, &frame, graph.input));
    region_where(im, NULL, (hg_str){0});
    if (graph.output.count == 0)
        return hg_import_fail(im, HOLO_E_MODEL, "the model has no outputs");
    HG_TRY(hg_import_nodes(im, &frame, graph.node));
    return region_add_outputs(im, &frame, graph.output);
}

holo_status hg_import_body(hg_importer *im, const hg_frame *outer, hg_wire message,
                           hg_region_id region)
{
    const hg_str name = im->where_name, op = im->where_op;
    hg_frame frame = {.outer = outer,
                      .call = outer->call,
                      .opsets = outer->opsets,
                      .region = region,
                      .prefix = outer->prefix,
                      .depth = outer->depth + 1};
    hg_onnx_graph graph;
    HG_TRY(region_enter(im, &frame));
    HG_TRY(hg_onnx_read_graph(&im->source, message, &graph));
    HG_TRY(region_read_hints(im, &frame, &graph));
    HG_TRY(region_add_body_inputs(im, &frame, graph.input));
    HG_TRY(region_add_initializers(im, &frame, graph.initializer));
    HG_TRY(region_add_sparse(im, &frame, graph.sparse_initializer));
    region_where(im, "node", name);
    im->where_op = op;
    HG_TRY(hg_import_nodes(im, &frame, graph.node));
    return region_add_outputs(im, &frame, graph.output);
}
