/* model.c - one table of fields per message, and one reader for all of them. */
#include "import/onnx/model.h"

#include <stddef.h>

typedef enum model_kind {
    MODEL_INT,      /* int64_t */
    MODEL_FLOAT,    /* float */
    MODEL_TEXT,     /* hg_str */
    MODEL_MESSAGE,  /* hg_wire; at most once */
    MODEL_LIST,     /* hg_wire_list */
    MODEL_VARINTS,  /* hg_wire_numbers */
    MODEL_FIXED32S, /* hg_wire_numbers */
    MODEL_FIXED64S  /* hg_wire_numbers */
} model_kind;

typedef struct model_field {
    uint32_t number;
    model_kind kind;
    size_t offset;
} model_field;

typedef struct model_message {
    const char *name;
    const model_field *field; /* ends with number 0 */
    size_t size;
} model_message;

static const char *model_store(const model_field *to, const hg_wire_field *f, void *place)
{
    static const char *const wrong = "a field has the wrong wire type";
    switch (to->kind) {
    case MODEL_INT:
        if (f->type != HG_WIRE_VARINT) return wrong;
        *(int64_t *)place = (int64_t)f->value;
        return NULL;
    case MODEL_FLOAT:
        if (f->type != HG_WIRE_FIXED32) return wrong;
        memcpy(place, &(uint32_t){(uint32_t)f->value}, sizeof(float));
        return NULL;
    case MODEL_TEXT:
        if (f->type != HG_WIRE_BYTES) return wrong;
        *(hg_str *)place = hg_onnx_text(f->bytes);
        return NULL;
    case MODEL_MESSAGE:
        if (f->type != HG_WIRE_BYTES) return wrong;
        if (((const hg_wire *)place)->at != NULL) return "a single message appears twice";
        *(hg_wire *)place = f->bytes;
        return NULL;
    case MODEL_LIST:
        if (f->type != HG_WIRE_BYTES) return wrong;
        hg_wire_list_add(place, f);
        return NULL;
    case MODEL_VARINTS: return hg_wire_numbers_add(place, HG_WIRE_VARINT, f);
    case MODEL_FIXED32S: return hg_wire_numbers_add(place, HG_WIRE_FIXED32, f);
    case MODEL_FIXED64S: return hg_wire_numbers_add(place, HG_WIRE_FIXED64, f);
    }
    return wrong;
}

static const model_field *model_find(const model_message *m, uint32_t number)
{
    for (const model_field *f = m->field; f->number != 0; f++)
        if (f->number == number) return f;
    return NULL;
}

static holo_status model_read(const hg_onnx_source *s, const model_message *m, hg_wire w, void *out)
{
    const size_t start = w.at == NULL ? 0 : (size_t)(w.at - s->data);
    const char *fault;
    hg_wire_field field;
    uint64_t *has = out; /* the first member of every view */
    memset(out, 0, m->size);
    while (hg_wire_next(&w, &field, &fault)) {
        const model_field *to = model_find(m, field.number);
        if (to == NULL) continue;
        fault = model_store(to, &field, (char *)out + to->offset);
        if (fault != NULL) break;
        *has |= UINT64_C(1) << field.number;
    }
    if (fault == NULL) return HOLO_OK;
    return hg_fail(s->error, HOLO_E_MODEL, "malformed %s at byte %zu: %s near byte %zu", m->name,
                   start, fault, (size_t)(w.at - s->data));
}

/* Defines a reader; the fields of the message follow as F(number, kind, member). */
#define MODEL_READER(reader, type, name, fields)                                                   \
    holo_status reader(const hg_onnx_source *s, hg_wire w, type *out)                              \
    {                                                                                              \
        typedef type view;                                                                         \
        static const model_field list[] = {fields{0, MODEL_INT, 0}};                               \
        static const model_message about = {name, list, sizeof(view)};                             \
        return model_read(s, &about, w, out);                                                      \
    }
#define F(number, kind, member) {number, MODEL_##kind, offsetof(view, member)},

/* clang-format off */
MODEL_READER(hg_onnx_read_model, hg_onnx_model, "ModelProto",
    F(1, INT, ir_version) F(2, TEXT, producer_name) F(3, TEXT, producer_version) F(4, TEXT, domain)
    F(5, INT, model_version) F(6, TEXT, doc_string) F(7, MESSAGE, graph) F(8, LIST, opset_import)
    F(14, LIST, metadata_props) F(25, LIST, functions))

MODEL_READER(hg_onnx_read_opset, hg_onnx_opset, "OperatorSetIdProto",
    F(1, TEXT, domain) F(2, INT, version))

MODEL_READER(hg_onnx_read_entry, hg_onnx_entry, "StringStringEntryProto",
    F(1, TEXT, key) F(2, TEXT, value))

MODEL_READER(hg_onnx_read_graph, hg_onnx_graph, "GraphProto",
    F(1, LIST, node) F(2, TEXT, name) F(5, LIST, initializer) F(10, TEXT, doc_string)
    F(11, LIST, input) F(12, LIST, output) F(13, LIST, value_info) F(15, LIST, sparse_initializer))

MODEL_READER(hg_onnx_read_node, hg_onnx_node, "NodeProto",
    F(1, LIST, input) F(2, LIST, output) F(3, TEXT, name) F(4, TEXT, op_type) F(5, LIST, attribute)
    F(7, TEXT, domain) F(8, TEXT, overload))

MODEL_READER(hg_onnx_read_function, hg_onnx_function, "FunctionProto",
    F(1, TEXT, name) F(4, LIST, input) F(5, LIST, output) F(6, LIST, attribute) F(7, LIST, node)
    F(9, LIST, opset_import) F(10, TEXT, domain) F(11, LIST, attribute_proto) F(13, TEXT, overload))

MODEL_READER(hg_onnx_read_tensor, hg_onnx_tensor, "TensorProto",
    F(1, VARINTS, dims) F(2, INT, data_type) F(3, MESSAGE, segment) F(4, FIXED32S, float_data)
    F(5, VARINTS, int32_data) F(6, LIST, string_data) F(7, VARINTS, int64_data) F(8, TEXT, name)
    F(9, MESSAGE, raw_data) F(10, FIXED64S, double_data) F(11, VARINTS, uint64_data)
    F(13, LIST, external_data) F(14, INT, data_location))

MODEL_READER(hg_onnx_read_sparse, hg_onnx_sparse, "SparseTensorProto",
    F(1, MESSAGE, values) F(2, MESSAGE, indices) F(3, VARINTS, dims))

MODEL_READER(hg_onnx_read_value_info, hg_onnx_value_info, "ValueInfoProto",
    F(1, TEXT, name) F(2, MESSAGE, type))

MODEL_READER(hg_onnx_read_type, hg_onnx_type, "TypeProto",
    F(1, MESSAGE, tensor) F(4, MESSAGE, sequence) F(5, MESSAGE, map) F(7, MESSAGE, opaque)
    F(8, MESSAGE, sparse_tensor) F(9, MESSAGE, optional))

MODEL_READER(hg_onnx_read_tensor_type, hg_onnx_tensor_type, "TypeProto.Tensor",
    F(1, INT, elem_type) F(2, MESSAGE, shape))

MODEL_READER(hg_onnx_read_container_type, hg_onnx_container_type, "TypeProto.Sequence",
    F(1, MESSAGE, item))

MODEL_READER(hg_onnx_read_map_type, hg_onnx_container_type, "TypeProto.Map",
    F(1, INT, key_type) F(2, MESSAGE, item))

MODEL_READER(hg_onnx_read_shape, hg_onnx_shape, "TensorShapeProto", F(1, LIST, dim))

MODEL_READER(hg_onnx_read_dim, hg_onnx_dim, "TensorShapeProto.Dimension",
    F(1, INT, value) F(2, TEXT, param))

static MODEL_READER(model_read_attribute, hg_onnx_attribute, "AttributeProto",
    F(1, TEXT, name) F(2, FLOAT, f) F(3, INT, i) F(4, TEXT, s) F(5, MESSAGE, t) F(6, MESSAGE, g)
    F(7, FIXED32S, floats) F(8, VARINTS, ints) F(9, LIST, strings) F(10, LIST, tensors)
    F(11, LIST, graphs) F(14, MESSAGE, tp) F(15, LIST, type_protos) F(20, INT, type)
    F(21, TEXT, ref_attr_name) F(22, MESSAGE, sparse_tensor) F(23, LIST, sparse_tensors))

/* The first models had no type: the field that is present tells. */
static const struct {
    uint32_t field;
    hg_onnx_attribute_type type;
} model_attribute_kinds[] = {
    {2, HG_ONNX_FLOAT},          {3, HG_ONNX_INT},
    {4, HG_ONNX_STRING},         {5, HG_ONNX_TENSOR},
    {6, HG_ONNX_GRAPH},          {7, HG_ONNX_FLOATS},
    {8, HG_ONNX_INTS},           {9, HG_ONNX_STRINGS},
    {10, HG_ONNX_TENSORS},       {11, HG_ONNX_GRAPHS},
    {14, HG_ONNX_TYPE_PROTO},    {15, HG_ONNX_TYPE_PROTOS},
    {22, HG_ONNX_SPARSE_TENSOR}, {23, HG_ONNX_SPARSE_TENSORS},
};
/* clang-format on */
#undef F
#undef MODEL_READER

holo_status hg_onnx_read_attribute(const hg_onnx_source *s, hg_wire w, hg_onnx_attribute *out)
{
    HG_TRY(model_read_attribute(s, w, out));
    for (size_t i = 0; i < HG_COUNT(model_attribute_kinds) && out->type == HG_ONNX_UNDEFINED; i++)
        if (hg_onnx_has(out->has, model_attribute_kinds[i].field))
            out->type = model_attribute_kinds[i].type;
    return HOLO_OK;
}
