/* model.h - the messages of ONNX that are read, as views into the bytes of the model.
 *
 * Field numbers and meanings are those of onnx-ml.proto. A reader checks the whole message it is
 * given, but not the messages inside: those are spans, read when they are needed. Every view starts
 * with `has`: bit n is set when field n is present. */
#ifndef HG_IMPORT_MODEL_H
#define HG_IMPORT_MODEL_H

#include "base/error.h"
#include "base/str.h"
#include "import/onnx/wire.h"

/* What a reader needs to say where something is wrong. */
typedef struct hg_onnx_source {
    const uint8_t *data; /* offsets in sentences count from here */
    holo_error *error;
} hg_onnx_source;

static inline bool hg_onnx_has(uint64_t has, uint32_t field)
{
    return (has >> field & 1) != 0;
}

typedef struct hg_onnx_model {
    uint64_t has;
    int64_t ir_version, model_version;
    hg_str producer_name, producer_version, domain, doc_string;
    hg_wire graph;
    hg_wire_list opset_import, metadata_props, functions;
} hg_onnx_model;
enum { HG_ONNX_MODEL_IR_VERSION = 1, HG_ONNX_MODEL_VERSION = 5, HG_ONNX_MODEL_GRAPH = 7 };

typedef struct hg_onnx_opset {
    uint64_t has;
    hg_str domain;
    int64_t version;
} hg_onnx_opset;

/* StringStringEntryProto */
typedef struct hg_onnx_entry {
    uint64_t has;
    hg_str key, value;
} hg_onnx_entry;

typedef struct hg_onnx_graph {
    uint64_t has;
    hg_str name, doc_string;
    hg_wire_list node, initializer, sparse_initializer, input, output, value_info;
} hg_onnx_graph;

typedef struct hg_onnx_node {
    uint64_t has;
    hg_str name, op_type, domain, overload;
    hg_wire_list input, output, attribute;
} hg_onnx_node;

typedef struct hg_onnx_function {
    uint64_t has;
    hg_str name, domain, overload;
    hg_wire_list input, output, attribute, attribute_proto, node, opset_import;
} hg_onnx_function;

typedef enum hg_onnx_attribute_type {
    HG_ONNX_UNDEFINED = 0,
    HG_ONNX_FLOAT = 1,
    HG_ONNX_INT = 2,
    HG_ONNX_STRING = 3,
    HG_ONNX_TENSOR = 4,
    HG_ONNX_GRAPH = 5,
    HG_ONNX_FLOATS = 6,
    HG_ONNX_INTS = 7,
    HG_ONNX_STRINGS = 8,
    HG_ONNX_TENSORS = 9,
    HG_ONNX_GRAPHS = 10,
    HG_ONNX_SPARSE_TENSOR = 11,
    HG_ONNX_SPARSE_TENSORS = 12,
    HG_ONNX_TYPE_PROTO = 13,
    HG_ONNX_TYPE_PROTOS = 14
} hg_onnx_attribute_type;

typedef struct hg_onnx_attribute {
    uint64_t has;
    hg_str name, ref_attr_name;
    int64_t type; /* hg_onnx_attribute_type; found from the fields when the model does not say */
    float f;
    int64_t i;
    hg_str s;
    hg_wire t, g, sparse_tensor, tp;
    hg_wire_numbers floats, ints;
    hg_wire_list strings, tensors, graphs, sparse_tensors, type_protos;
} hg_onnx_attribute;

typedef struct hg_onnx_tensor {
    uint64_t has;
    hg_str name;
    int64_t data_type, data_location;
    hg_wire_numbers dims, float_data, int32_data, int64_data, double_data, uint64_data;
    hg_wire_list string_data, external_data;
    hg_wire raw_data, segment;
} hg_onnx_tensor;
enum { HG_ONNX_TENSOR_SEGMENT = 3, HG_ONNX_TENSOR_RAW_DATA = 9 };
enum { HG_ONNX_EXTERNAL = 1 }; /* a data_location */

typedef struct hg_onnx_sparse {
    uint64_t has;
    hg_wire values, indices;
    hg_wire_numbers dims;
} hg_onnx_sparse;
enum { HG_ONNX_SPARSE_VALUES = 1, HG_ONNX_SPARSE_INDICES = 2 };

typedef struct hg_onnx_value_info {
    uint64_t has;
    hg_str name;
    hg_wire type;
} hg_onnx_value_info;
enum { HG_ONNX_VALUE_INFO_TYPE = 2 };

/* TypeProto: at most one of the members is present. */
typedef struct hg_onnx_type {
    uint64_t has;
    hg_wire tensor, sequence, map, optional, sparse_tensor, opaque;
} hg_onnx_type;
enum {
    HG_ONNX_TYPE_TENSOR = 1,
    HG_ONNX_TYPE_SEQUENCE = 4,
    HG_ONNX_TYPE_MAP = 5,
    HG_ONNX_TYPE_OPAQUE = 7,
    HG_ONNX_TYPE_SPARSE_TENSOR = 8,
    HG_ONNX_TYPE_OPTIONAL = 9
};

typedef struct hg_onnx_tensor_type {
    uint64_t has;
    int64_t elem_type;
    hg_wire shape;
} hg_onnx_tensor_type;
enum { HG_ONNX_TENSOR_TYPE_SHAPE = 2 };

/* Sequence and Optional: the item in field 1. Map: the key's type in field 1, the value in field 2.
 */
typedef struct hg_onnx_container_type {
    uint64_t has;
    int64_t key_type;
    hg_wire item;
} hg_onnx_container_type;

typedef struct hg_onnx_shape {
    uint64_t has;
    hg_wire_list dim;
} hg_onnx_shape;

typedef struct hg_onnx_dim {
    uint64_t has;
    int64_t value;
    hg_str param;
} hg_onnx_dim;
enum { HG_ONNX_DIM_VALUE = 1, HG_ONNX_DIM_PARAM = 2 };

/* Each returns HOLO_OK or HOLO_E_MODEL with a sentence that has the message's name and place. */
HG_MUST_CHECK holo_status hg_onnx_read_model(const hg_onnx_source *s, hg_wire w,
                                             hg_onnx_model *out);
HG_MUST_CHECK holo_status hg_onnx_read_opset(const hg_onnx_source *s, hg_wire w,
                                             hg_onnx_opset *out);
HG_MUST_CHECK holo_status hg_onnx_read_entry(const hg_onnx_source *s, hg_wire w,
                                             hg_onnx_entry *out);
HG_MUST_CHECK holo_status hg_onnx_read_graph(const hg_onnx_source *s, hg_wire w,
                                             hg_onnx_graph *out);
HG_MUST_CHECK holo_status hg_onnx_read_node(const hg_onnx_source *s, hg_wire w, hg_onnx_node *out);
HG_MUST_CHECK holo_status hg_onnx_read_function(const hg_onnx_source *s, hg_wire w,
                                                hg_onnx_function *out);
HG_MUST_CHECK holo_status hg_onnx_read_attribute(const hg_onnx_source *s, hg_wire w,
                                                 hg_onnx_attribute *out);
HG_MUST_CHECK holo_status hg_onnx_read_tensor(const hg_onnx_source *s, hg_wire w,
                                              hg_onnx_tensor *out);
HG_MUST_CHECK holo_status hg_onnx_read_sparse(const hg_onnx_source *s, hg_wire w,
                                              hg_onnx_sparse *out);
HG_MUST_CHECK holo_status hg_onnx_read_value_info(const hg_onnx_source *s, hg_wire w,
                                                  hg_onnx_value_info *out);
HG_MUST_CHECK holo_status hg_onnx_read_type(const hg_onnx_source *s, hg_wire w, hg_onnx_type *out);
HG_MUST_CHECK holo_status hg_onnx_read_tensor_type(const hg_onnx_source *s, hg_wire w,
                                                   hg_onnx_tensor_type *out);
HG_MUST_CHECK holo_status hg_onnx_read_container_type(const hg_onnx_source *s, hg_wire w,
                                                      hg_onnx_container_type *out);
HG_MUST_CHECK holo_status hg_onnx_read_map_type(const hg_onnx_source *s, hg_wire w,
                                                hg_onnx_container_type *out);
HG_MUST_CHECK holo_status hg_onnx_read_shape(const hg_onnx_source *s, hg_wire w,
                                             hg_onnx_shape *out);
HG_MUST_CHECK holo_status hg_onnx_read_dim(const hg_onnx_source *s, hg_wire w, hg_onnx_dim *out);

/* A span as text; nothing is checked. */
static inline hg_str hg_onnx_text(hg_wire w)
{
    return (hg_str){(const char *)w.at, hg_wire_size(w)};
}

#endif
