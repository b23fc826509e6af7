/* declare.c - declared types: dimensions by name, and what the options fix about them. */
#include "import/onnx/importer.h"

#include <inttypes.h>
#include <stdio.h>

enum { DECLARE_MAX_NESTING = 16 }; /* sequences of optionals of ... */

/* ---- settings -------------------------------------------------------------------------------- */

static holo_status declare_choice(hg_importer *im, hg_str name, hg_dim_choice **out)
{
    uint32_t at = hg_map_get(&im->choice_of, name);
    if (at == 0) {
        hg_dim_choice *grown = hg_arena_grow(&im->ctx->scratch, im->choice, im->n_choice,
                                             &im->choice_capacity, sizeof *grown);
        if (grown == NULL) return hg_fail_nomem(im->ctx->error, sizeof *grown);
        im->choice = grown;
        im->choice[im->n_choice++] = (hg_dim_choice){.fixed = -1, .at_most = -1};
        at = (uint32_t)im->n_choice;
        if (!hg_map_set(&im->choice_of, name, at))
            return hg_fail_nomem(im->ctx->error, name.length);
    }
    *out = &im->choice[at - 1];
    return HOLO_OK;
}

/* One dimension cannot have two sizes. */
static holo_status declare_fix(hg_importer *im, hg_str name, int64_t value, hg_dim_choice *choice)
{
    if (choice->fixed >= 0 && choice->fixed != value)
        return hg_import_fail(im, HOLO_E_SHAPE,
                              "dimension '%.*s' is set to %" PRId64 " and to %" PRId64,
                              HG_STR_ARG(hg_import_shown(name)), choice->fixed, value);
    if (choice->at_most >= 0 && value > choice->at_most)
        return hg_import_fail(im, HOLO_E_SHAPE,
                              "dimension '%.*s' is set to %" PRId64 " but at most %" PRId64,
                              HG_STR_ARG(hg_import_shown(name)), value, choice->at_most);
    choice->fixed = value;
    return HOLO_OK;
}

static holo_status declare_dim_setting(hg_importer *im, size_t i)
{
    const holo_dim_setting *setting = &im->options->dims[i];
    const hg_str name = hg_str_from(setting->name);
    hg_dim_choice *choice = NULL;
    if (name.length == 0 || setting->value < 0)
        return hg_import_fail(im, HOLO_E_ARG,
                              "dimension '%.*s' is set to %" PRId64
                              ", expected a name and a size of at least 0",
                              HG_STR_ARG(hg_import_shown(name)), setting->value);
    HG_TRY(declare_choice(im, name, &choice));
    if (!setting->at_most) return declare_fix(im, name, setting->value, choice);
    choice->at_most = setting->value;
    return choice->fixed < 0 ? HOLO_OK : declare_fix(im, name, choice->fixed, choice);
}

static holo_status declare_shape_setting(hg_importer *im, size_t i)
{
    const holo_shape_setting *setting = &im->options->shapes[i];
    const hg_str name = hg_str_from(setting->input);
    if (name.length == 0 || setting->rank < 0 || setting->rank > HG_MAX_RANK ||
        (setting->rank > 0 && setting->dim == NULL))
        return hg_import_fail(im, HOLO_E_ARG,
                              "the shape set for input '%.*s' has rank %d, expected 0 to %d",
                              HG_STR_ARG(hg_import_shown(name)), setting->rank, (int)HG_MAX_RANK);
    if (hg_map_get(&im->shape_of, name) != 0)
        return hg_import_fail(im, HOLO_E_ARG, "the shape of input '%.*s' is set twice",
                              HG_STR_ARG(hg_import_shown(name)));
    return hg_map_set(&im->shape_of, name, (uint32_t)i + 1)
               ? HOLO_OK
               : hg_fail_nomem(im->ctx->error, name.length);
}

holo_status hg_declare_settings(hg_importer *im)
{
    for (size_t i = 0; i < im->options->n_dims; i++)
        HG_TRY(declare_dim_setting(im, i));
    for (size_t i = 0; i < im->options->n_shapes; i++)
        HG_TRY(declare_shape_setting(im, i));
    return HOLO_OK;
}

static const holo_shape_setting *declare_shape_of(const hg_importer *im, hg_str input)
{
    const uint32_t at = hg_map_get(&im->shape_of, input);
    return at == 0 ? NULL : &im->options->shapes[at - 1];
}

/* A type of tensor elements, as ONNX numbers it. */
static bool declare_is_element(int64_t number)
{
    return number > 0 && number < 64 && hg_dtype_in((holo_dtype)number, HG_TYPES_ANY);
}

/* ---- reading shapes -------------------------------------------------------------------------- */

/* The tensor type inside a TypeProto, if it is one; *shape is then its dimensions. */
static holo_status declare_read_tensor(hg_importer *im, hg_wire type, hg_onnx_tensor_type *tensor,
                                       hg_onnx_shape *shape, bool *is_tensor)
{
    hg_onnx_type view;
    HG_TRY(hg_onnx_read_type(&im->source, type, &view));
    *is_tensor = hg_onnx_has(view.has, HG_ONNX_TYPE_TENSOR);
    if (!*is_tensor) return HOLO_OK;
    HG_TRY(hg_onnx_read_tensor_type(&im->source, view.tensor, tensor));
    return hg_onnx_read_shape(&im->source, tensor->shape, shape);
}

/* "input.0": how a dimension without a name is called. */
static hg_str declare_dim_name(hg_importer *im, const hg_onnx_dim *dim, hg_str input, int32_t i)
{
    if (dim->param.length != 0) return dim->param;
    return hg_str_format(&im->ctx->arena, "%.*s.%d", (int)input.length, input.text, i);
}

static bool declare_is_constant(const hg_onnx_dim *dim)
{
    return hg_onnx_has(dim->has, HG_ONNX_DIM_VALUE) && dim->value >= 0;
}

/* One dimension of an input against what a shape setting says about it. */
static holo_status declare_note_dim(hg_importer *im, const hg_onnx_dim *dim, hg_str input,
                                    int32_t i, int64_t wanted)
{
    if (declare_is_constant(dim)) {
        if (dim->value == wanted) return HOLO_OK;
        return hg_import_fail(im, HOLO_E_SHAPE,
                              "dimension %d is set to %" PRId64 ", the model says %" PRId64, i,
                              wanted, dim->value);
    }
    const hg_str name = declare_dim_name(im, dim, input, i);
    hg_dim_choice *choice = NULL;
    if (name.text == NULL) return hg_fail_nomem(im->ctx->error, input.length);
    HG_TRY(declare_choice(im, name, &choice));
    return declare_fix(im, name, wanted, choice);
}

holo_status hg_declare_note_input(hg_importer *im, const hg_onnx_value_info *input)
{
    const holo_shape_setting *setting = declare_shape_of(im, input->name);
    hg_onnx_tensor_type tensor;
    hg_onnx_shape shape;
    hg_wire item;
    bool is_tensor;
    if (setting == NULL) return HOLO_OK;
    HG_TRY(declare_read_tensor(im, input->type, &tensor, &shape, &is_tensor));
    if (im->options->shape_is_used != NULL)
        im->options->shape_is_used[setting - im->options->shapes] = true;
    if (!is_tensor) return hg_import_fail(im, HOLO_E_ARG, "a shape is set, but it is no tensor");
    if (!hg_onnx_has(tensor.has, HG_ONNX_TENSOR_TYPE_SHAPE)) return HOLO_OK;
    if (shape.dim.count != (size_t)setting->rank)
        return hg_import_fail(im, HOLO_E_SHAPE, "a shape of rank %d is set, the model says %zu",
                              setting->rank, shape.dim.count);
    for (int32_t i = 0; hg_wire_list_next(&shape.dim, &item); i++) {
        hg_onnx_dim dim;
        HG_TRY(hg_onnx_read_dim(&im->source, item, &dim));
        if (setting->dim[i] >= 0) /* negative: stays as it is */
            HG_TRY(declare_note_dim(im, &dim, input->name, i, setting->dim[i]));
    }
    return HOLO_OK;
}

holo_status hg_declare_check_used(const hg_importer *im)
{
    const hg_import_options *o = im->options;
    char known[300] = "none";
    size_t used = 0;
    for (size_t i = 0; i < im->g->dims.n_symbol && used < sizeof known - 1; i++) {
        const hg_str name = hg_import_shown(im->g->dims.symbol[i].name);
        int more = snprintf(known + used, sizeof known - used, "%s%.*s", i == 0 ? "" : ", ",
                            HG_STR_ARG(name));
        used += more > 0 ? (size_t)more : 0;
    }
    for (size_t i = 0; i < o->n_dims; i++) {
        const hg_str name = hg_str_from(o->dims[i].name);
        const bool is_used = hg_map_get(&im->symbol_of, name) != 0;
        if (o->dim_is_used != NULL)
            o->dim_is_used[i] |= is_used;
        else if (!is_used)
            return hg_fail(im->ctx->error, HOLO_E_ARG,
                           "no dimension is called '%.*s'; the model's inputs have: %s",
                           HG_STR_ARG(hg_import_shown(name)), known);
    }
    for (size_t i = 0; i < o->n_shapes && o->shape_is_used == NULL; i++) {
        const hg_str name = hg_str_from(o->shapes[i].input);
        const hg_region *r = hg_graph_region(im->g, HG_REGION_MAIN);
        bool is_used = false;
        for (uint32_t k = 0; k < r->n_in; k++)
            is_used |= hg_str_equal(hg_graph_value(im->g, r->in[k])->name, name);
        if (!is_used)
            return hg_fail(im->ctx->error, HOLO_E_ARG,
                           "a shape is set for '%.*s', which is no input",
                           HG_STR_ARG(hg_import_shown(name)));
    }
    return HOLO_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* A symbol, or the constant that options make of it. Remembered by name for hints. */
static holo_status declare_symbol(hg_importer *im, hg_str name, bool is_named, hg_dim *out)
{
    hg_dims *dims = &im->g->dims;
    const uint32_t at = hg_map_get(&im->choice_of, name);
    const hg_dim_choice *choice = at == 0 ? NULL : &im->choice[at - 1];
    if (choice != NULL && choice->fixed >= 0)
        *out = hg_dim_const(dims, choice->fixed);
    else if (is_named)
        *out = hg_dim_named(dims, name);
    else
        *out =
            hg_dim_symbol(dims, (hg_symbol){.name = name, .kind = HG_SYMBOL_INPUT, .at_most = -1});
    const int64_t symbol = hg_dim_symbol_of(dims, *out);
    if (choice != NULL && symbol >= 0) dims->symbol[symbol].at_most = choice->at_most;
    if (*out == 0 || !hg_map_set(&im->symbol_of, name, *out))
        return hg_fail_nomem(im->ctx->error, name.length);
    return HOLO_OK;
}

static holo_status declare_input_dim(hg_importer *im, hg_wire item, hg_str input, int32_t i,
                                     hg_dim *out)
{
    hg_onnx_dim dim;
    HG_TRY(hg_onnx_read_dim(&im->source, item, &dim));
    HG_TRY(hg_import_check_name(im, "name of a dimension", dim.param));
    if (declare_is_constant(&dim)) {
        *out = hg_dim_const(&im->g->dims, dim.value);
        return HOLO_OK;
    }
    const hg_str name = declare_dim_name(im, &dim, input, i);
    if (name.text == NULL) return hg_fail_nomem(im->ctx->error, input.length);
    return declare_symbol(im, name, dim.param.length != 0, out);
}

/* The rank is not declared: it is what options say, or stays unknown. */
static holo_status declare_unranked(hg_importer *im, hg_str input, hg_type *out)
{
    const holo_shape_setting *setting = declare_shape_of(im, input);
    if (setting == NULL) return HOLO_OK;
    out->rank = setting->rank;
    for (int32_t i = 0; i < setting->rank; i++) {
        const hg_str name = declare_dim_name(im, &(hg_onnx_dim){0}, input, i);
        if (name.text == NULL) return hg_fail_nomem(im->ctx->error, input.length);
        if (setting->dim[i] < 0)
            HG_TRY(declare_symbol(im, name, false, &out->dim[i]));
        else
            out->dim[i] = hg_dim_const(&im->g->dims, setting->dim[i]);
    }
    return HOLO_OK;
}

holo_status hg_declare_input(hg_importer *im, const hg_onnx_value_info *input, hg_type *out)
{
    hg_onnx_tensor_type tensor;
    hg_onnx_shape shape;
    hg_wire item;
    bool is_tensor;
    *out = (hg_type){.rank = HG_RANK_UNKNOWN};
    HG_TRY(declare_read_tensor(im, input->type, &tensor, &shape, &is_tensor));
    if (!is_tensor) {
        HG_TRY(hg_declare_hint(im, input->type, out));
        if (out->dtype != HOLO_NONE) return HOLO_OK;
        return hg_import_fail(
            im, HOLO_E_UNSUPPORTED,
            "its type is neither a tensor nor a sequence, optional or map of tensors");
    }
    if (!declare_is_element(tensor.elem_type))
        return hg_import_fail(im, HOLO_E_UNSUPPORTED, "element type %" PRId64 " is not known",
                              tensor.elem_type);
    out->dtype = (holo_dtype)tensor.elem_type;
    if (!hg_onnx_has(tensor.has, HG_ONNX_TENSOR_TYPE_SHAPE))
        return declare_unranked(im, input->name, out);
    if (shape.dim.count > HG_MAX_RANK)
        return hg_import_fail(im, HOLO_E_UNSUPPORTED, "rank %zu, at most %d is supported",
                              shape.dim.count, (int)HG_MAX_RANK);
    out->rank = (int32_t)shape.dim.count;
    for (int32_t i = 0; hg_wire_list_next(&shape.dim, &item); i++)
        HG_TRY(declare_input_dim(im, item, input->name, i, &out->dim[i]));
    return HOLO_OK;
}

void hg_declare_bind(hg_importer *im, hg_value_id input)
{
    const hg_type *type = &hg_graph_value(im->g, input)->type;
    for (int32_t i = 0; i < type->rank; i++) {
        const int64_t n = hg_dim_symbol_of(&im->g->dims, type->dim[i]);
        if (n < 0) continue;
        hg_symbol *symbol = &im->g->dims.symbol[n];
        if (symbol->value != 0) continue;
        symbol->value = input;
        symbol->index = (uint32_t)i;
    }
}

/* ---- hints ----------------------------------------------------------------------------------- */

/* Names that no input has say nothing: their symbols could not be bound. */
static holo_status declare_hint_tensor(hg_importer *im, hg_wire message, hg_type *out)
{
    hg_onnx_tensor_type tensor;
    hg_onnx_shape shape;
    hg_wire item;
    HG_TRY(hg_onnx_read_tensor_type(&im->source, message, &tensor));
    HG_TRY(hg_onnx_read_shape(&im->source, tensor.shape, &shape));
    if (!declare_is_element(tensor.elem_type)) return HOLO_OK;
    out->dtype = (holo_dtype)tensor.elem_type;
    if (!hg_onnx_has(tensor.has, HG_ONNX_TENSOR_TYPE_SHAPE) || shape.dim.count > HG_MAX_RANK)
        return HOLO_OK;
    out->rank = (int32_t)shape.dim.count;
    for (int32_t i = 0; hg_wire_list_next(&shape.dim, &item); i++) {
        hg_onnx_dim dim;
        HG_TRY(hg_onnx_read_dim(&im->source, item, &dim));
        if (declare_is_constant(&dim))
            out->dim[i] = hg_dim_const(&im->g->dims, dim.value);
        else if (dim.param.length != 0)
            out->dim[i] = hg_map_get(&im->symbol_of, dim.param);
    }
    return HOLO_OK;
}

/* The container part of a TypeProto; *item is what it holds. */
static holo_status declare_container(hg_importer *im, const hg_onnx_type *view, hg_type *out,
                                     hg_wire *item)
{
    hg_onnx_container_type c = {0};
    if (hg_onnx_has(view->has, HG_ONNX_TYPE_MAP)) {
        HG_TRY(hg_onnx_read_map_type(&im->source, view->map, &c));
        if (!declare_is_element(c.key_type)) return HOLO_OK;
        out->dtype = HOLO_MAP;
        out->key = (holo_dtype)c.key_type;
    } else if (hg_onnx_has(view->has, HG_ONNX_TYPE_SEQUENCE)) {
        HG_TRY(hg_onnx_read_container_type(&im->source, view->sequence, &c));
        out->dtype = HOLO_SEQUENCE;
    } else if (hg_onnx_has(view->has, HG_ONNX_TYPE_OPTIONAL)) {
        HG_TRY(hg_onnx_read_container_type(&im->source, view->optional, &c));
        out->dtype = HOLO_OPTIONAL;
    }
    *item = c.item;
    return HOLO_OK;
}

holo_status hg_declare_hint(hg_importer *im, hg_wire type, hg_type *out)
{
    const hg_type unknown = {.rank = HG_RANK_UNKNOWN};
    hg_type result = unknown, *at = &result;
    for (int depth = 0; at != NULL; depth++) {
        hg_onnx_type view;
        hg_wire item = {0};
        hg_type *next = NULL;
        HG_TRY(hg_onnx_read_type(&im->source, type, &view));
        if (hg_onnx_has(view.has, HG_ONNX_TYPE_TENSOR))
            HG_TRY(declare_hint_tensor(im, view.tensor, at));
        else
            HG_TRY(declare_container(im, &view, at, &item));
        if (at->dtype == HOLO_NONE || depth == DECLARE_MAX_NESTING) result = unknown;
        if (result.dtype == HOLO_NONE) break;
        if (at->dtype >= HOLO_SEQUENCE) {
            HG_TRY(HG_NEW(im->ctx, 1, &next));
            *next = unknown;
            at->item = next;
        }
        at = next;
        type = item;
    }
    *out = result;
    return HOLO_OK;
}
