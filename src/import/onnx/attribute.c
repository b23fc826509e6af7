/* attribute.c - AttributeProto becomes hg_attr; references inside functions are followed. */
#include "import/onnx/importer.h"

#include <inttypes.h>

/* ---- references ------------------------------------------------------------------------------ */

static bool attribute_find(const hg_named_attributes *list, hg_str name, hg_wire *message)
{
    for (size_t i = 0; i < list->count; i++)
        if (hg_str_equal(list->name[i], name)) {
            *message = list->message[i];
            return true;
        }
    return false;
}

/* An attribute of the call, else the default that the function declares. */
static bool attribute_of_call(const hg_call *call, hg_str name, hg_wire *message,
                              const hg_frame **frame)
{
    if (attribute_find(&call->given, name, message)) {
        *frame = call->caller;
        return true;
    }
    return attribute_find(&call->function->defaults, name, message);
}

holo_status hg_attribute_read(hg_importer *im, const hg_frame *frame, hg_wire message,
                              hg_import_attribute *out, bool *is_present)
{
    hg_onnx_attribute view;
    HG_TRY(hg_onnx_read_attribute(&im->source, message, &view));
    HG_TRY(hg_import_check_name(im, "name of an attribute", view.name));
    const hg_str name = view.name;
    *is_present = true;
    /* Each step leads to the caller of the function, whose depth is bounded; a default that is a
     * reference itself would not. */
    for (int depth = 0; view.ref_attr_name.length != 0; depth++) {
        if (frame->call == NULL || depth > (int)HG_LIMIT_NESTING)
            return hg_import_fail(
                im, HOLO_E_MODEL, "attribute '%.*s' refers to '%.*s', but no function has it",
                HG_STR_ARG(name), HG_STR_ARG(hg_import_shown(view.ref_attr_name)));
        *is_present = attribute_of_call(frame->call, view.ref_attr_name, &message, &frame);
        if (!*is_present) break;
        HG_TRY(hg_onnx_read_attribute(&im->source, message, &view));
    }
    view.name = name;
    *out = (hg_import_attribute){view, frame};
    return HOLO_OK;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static holo_status attribute_ints(hg_importer *im, hg_wire_numbers numbers, hg_attr *out)
{
    int64_t *to;
    uint64_t value;
    HG_TRY(HG_NEW(im->ctx, numbers.count + 1, &to));
    out->ints = to;
    out->count = numbers.count;
    while (hg_wire_numbers_next(&numbers, &value))
        *to++ = (int64_t)value;
    return HOLO_OK;
}

static holo_status attribute_floats(hg_importer *im, hg_wire_numbers numbers, hg_attr *out)
{
    float *to;
    uint64_t value;
    HG_TRY(HG_NEW(im->ctx, numbers.count + 1, &to));
    out->floats = to;
    out->count = numbers.count;
    while (hg_wire_numbers_next(&numbers, &value))
        memcpy(to++, &(uint32_t){(uint32_t)value}, sizeof *to);
    return HOLO_OK;
}

static holo_status attribute_strings(hg_importer *im, hg_wire_list strings, hg_attr *out)
{
    hg_str *to;
    hg_wire item;
    HG_TRY(HG_NEW(im->ctx, strings.count + 1, &to));
    out->strings = to;
    out->count = strings.count;
    while (hg_wire_list_next(&strings, &item)) {
        HG_TRY(hg_import_check_string(im, hg_wire_size(item)));
        *to++ = hg_onnx_text(item);
    }
    return HOLO_OK;
}

static holo_status attribute_type(hg_importer *im, hg_wire message, hg_attr *out)
{
    hg_type *type;
    HG_TRY(HG_NEW(im->ctx, 1, &type));
    HG_TRY(hg_declare_hint(im, message, type));
    if (type->dtype == HOLO_NONE)
        return hg_import_fail(im, HOLO_E_UNSUPPORTED,
                              "attribute '%.*s' is a type that is not supported",
                              HG_STR_ARG(out->name));
    out->type = type;
    return HOLO_OK;
}

holo_status hg_attribute_convert(hg_importer *im, const hg_import_attribute *a, hg_attr *out)
{
    const hg_onnx_attribute *v = &a->view;
    *out = (hg_attr){.name = v->name};
    switch (v->type) {
    case HG_ONNX_INT:
        out->kind = HG_ATTR_INT;
        out->i = v->i;
        return HOLO_OK;
    case HG_ONNX_FLOAT:
        out->kind = HG_ATTR_FLOAT;
        out->f = v->f;
        return HOLO_OK;
    case HG_ONNX_STRING:
        HG_TRY(hg_import_check_string(im, v->s.length));
        out->kind = HG_ATTR_STRING;
        out->s = v->s;
        if (out->s.text == NULL) out->s.text = ""; /* declared, and not there */
        return HOLO_OK;
    case HG_ONNX_INTS: out->kind = HG_ATTR_INTS; return attribute_ints(im, v->ints, out);
    case HG_ONNX_FLOATS: out->kind = HG_ATTR_FLOATS; return attribute_floats(im, v->floats, out);
    case HG_ONNX_STRINGS:
        out->kind = HG_ATTR_STRINGS;
        return attribute_strings(im, v->strings, out);
    case HG_ONNX_TENSOR:
        out->kind = HG_ATTR_TENSOR;
        return hg_import_tensor(im, v->t, (hg_str){0}, &out->tensor);
    case HG_ONNX_SPARSE_TENSOR:
        out->kind = HG_ATTR_TENSOR;
        return hg_import_sparse(im, v->sparse_tensor, (hg_str){0}, &out->tensor);
    case HG_ONNX_TYPE_PROTO: out->kind = HG_ATTR_TYPE; return attribute_type(im, v->tp, out);
    default:
        return hg_import_fail(im, HOLO_E_UNSUPPORTED,
                              "attribute '%.*s' has kind %" PRId64 ", which is not supported",
                              HG_STR_ARG(v->name), v->type);
    }
}

/* ---- Constant -------------------------------------------------------------------------------- */

/* A tensor of `count` elements in arena memory: a scalar when is_list is false. */
static holo_status attribute_add_const(hg_importer *im, hg_str name, holo_dtype dtype,
                                       const void *data, size_t count, bool is_list,
                                       hg_value_id *out)
{
    size_t bytes;
    hg_type type = {.dtype = dtype, .rank = is_list ? 1 : 0};
    if (is_list) type.dim[0] = hg_dim_const(&im->g->dims, (int64_t)count);
    if (!hg_dtype_bytes(dtype, (int64_t)count, &bytes)) return hg_fail_nomem(im->ctx->error, count);
    return hg_graph_add_const(im->g, name, type, data, bytes, out);
}

static holo_status attribute_string_const(hg_importer *im, hg_str name, const hg_attr *attr,
                                          hg_value_id *out)
{
    const bool is_list = attr->kind == HG_ATTR_STRINGS;
    const size_t count = is_list ? attr->count : 1;
    holo_string *to;
    HG_TRY(HG_NEW(im->ctx, count + 1, &to));
    for (size_t i = 0; i < count; i++) {
        const hg_str s = is_list ? attr->strings[i] : attr->s;
        to[i] = (holo_string){s.text, s.length};
    }
    return attribute_add_const(im, name, HOLO_STRING, to, count, is_list, out);
}

static holo_status attribute_to_const(hg_importer *im, hg_str name, const hg_attr *attr,
                                      hg_value_id *out)
{
    int64_t *i;
    float *f;
    switch (attr->kind) {
    case HG_ATTR_INT:
        HG_TRY(HG_NEW(im->ctx, 1, &i));
        *i = attr->i;
        return attribute_add_const(im, name, HOLO_I64, i, 1, false, out);
    case HG_ATTR_FLOAT:
        HG_TRY(HG_NEW(im->ctx, 1, &f));
        *f = attr->f;
        return attribute_add_const(im, name, HOLO_F32, f, 1, false, out);
    case HG_ATTR_INTS:
        return attribute_add_const(im, name, HOLO_I64, attr->ints, attr->count, true, out);
    case HG_ATTR_FLOATS:
        return attribute_add_const(im, name, HOLO_F32, attr->floats, attr->count, true, out);
    case HG_ATTR_STRING:
    case HG_ATTR_STRINGS: return attribute_string_const(im, name, attr, out);
    case HG_ATTR_TENSOR:
        hg_graph_value(im->g, attr->tensor)->name = name;
        *out = attr->tensor;
        return HOLO_OK;
    case HG_ATTR_DIMS:
    case HG_ATTR_CODE:
    case HG_ATTR_TYPE: break;
    }
    return hg_import_fail(im, HOLO_E_MODEL, "attribute '%.*s' is no constant",
                          HG_STR_ARG(attr->name));
}

holo_status hg_attribute_constant(hg_importer *im, const hg_frame *frame, hg_wire_list attributes,
                                  hg_str name, hg_value_id *out)
{
    static const char *const known[] = {"value",         "value_int",    "value_ints",
                                        "value_float",   "value_floats", "value_string",
                                        "value_strings", "sparse_value"};
    hg_wire message;
    *out = 0;
    while (hg_wire_list_next(&attributes, &message)) {
        hg_import_attribute a;
        hg_attr attr;
        bool is_present, is_known = false;
        HG_TRY(hg_attribute_read(im, frame, message, &a, &is_present));
        if (!is_present) continue;
        for (size_t i = 0; i < HG_COUNT(known); i++)
            is_known |= hg_str_is(a.view.name, known[i]);
        if (!is_known || *out != 0)
            return hg_import_fail(im, HOLO_E_MODEL,
                                  is_known ? "'%.*s' is a second value"
                                           : "attribute '%.*s' is not known",
                                  HG_STR_ARG(a.view.name));
        HG_TRY(hg_attribute_convert(im, &a, &attr));
        HG_TRY(attribute_to_const(im, name, &attr, out));
    }
    return *out != 0 ? HOLO_OK : hg_import_fail(im, HOLO_E_MODEL, "it has no value");
}
