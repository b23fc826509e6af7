/* make.h - builds ONNX models byte by byte for the tests of import/onnx, right ones and wrong ones.
 */
#ifndef HG_TEST_IMPORT_MAKE_H
#define HG_TEST_IMPORT_MAKE_H

#include "import/onnx/import.h"
#include "test.h"

/* A message under construction; grows in an arena. */
typedef struct make {
    hg_arena *arena;
    uint8_t *data;
    size_t size, capacity;
} make;

make make_new(hg_arena *arena);
void make_raw(make *m, const void *bytes, size_t size);
void make_varint(make *m, uint64_t value);
void make_tag(make *m, uint32_t field, uint32_t wire_type);
/* Fields. */
void make_int(make *m, uint32_t field, int64_t value);
void make_float(make *m, uint32_t field, float value);
void make_bytes(make *m, uint32_t field, const void *bytes, size_t size);
void make_text(make *m, uint32_t field, const char *text);
void make_in(make *m, uint32_t field, const make *inner);

/* A context with a graph, and an arena for messages. */
typedef struct make_fixture {
    holo_error error;
    hg_ctx ctx;
    hg_graph graph;
    hg_arena arena;
    char log[1024];
    char *text; /* of the graph */
    size_t text_size, text_capacity;
} make_fixture;

void make_init(make_fixture *f);
void make_deinit(make_fixture *f);
/* Imports the model; the graph passes hg_graph_verify when that succeeds. */
holo_status make_import(make_fixture *f, const make *model, const hg_import_options *options);
/* The graph's text form. */
const char *make_dump(make_fixture *f);

/* ---- messages of ONNX ------------------------------------------------------------------------ */

/* NodeProto; names are separated by ',' and may be empty. */
make make_node(make_fixture *f, const char *name, const char *op, const char *in, const char *out);
void make_attr_int(make *node, const char *name, int64_t value);
/* `field` holds the value, made by the caller; type is that of AttributeProto. */
make make_attr(make_fixture *f, const char *name, int64_t type);
/* ValueInfoProto of a tensor: dims "2,batch,?" ("" is rank 0, NULL no shape). */
make make_value(make_fixture *f, const char *name, int64_t elem, const char *dims);
/* TensorProto with float_data, or without data when values is NULL. */
make make_tensor(make_fixture *f, const char *name, int64_t elem, const char *dims,
                 const float *values, size_t count);

enum {
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_INFO = 13
};
enum { ELEM_F32 = 1, ELEM_U8 = 2, ELEM_I64 = 7, ELEM_STRING = 8, ELEM_BOOL = 9 };

/* ModelProto of IR 8 around a graph. */
make make_model(make_fixture *f, const make *graph, int64_t opset);
/* Graph with input x [batch,3] and output y, both float32, and the nodes given so far added by the
 * caller. */
make make_graph_xy(make_fixture *f);

#endif
