/* importer.h - an import under way: what the files of this folder share.
 *
 *   frame   the names of one graph, body or function call. A body sees the frames around it; a
 * function sees its arguments alone. call    the function call a frame belongs to: where attribute
 * references are looked up. callee  what a node's operator turned out to be: an operator, a
 * function of the model, or unknown. */
#ifndef HG_IMPORT_IMPORTER_H
#define HG_IMPORT_IMPORTER_H

#include "base/limits.h"
#include "import/onnx/import.h"
#include "import/onnx/model.h"
#include "op/op.h"

enum {
    HG_IMPORT_MAX_OPSETS = 256,       /* of a model or function */
    HG_IMPORT_MAX_ATTRIBUTES = 128,   /* of a node */
    HG_IMPORT_MAX_INLINED = 1 << 22,  /* nodes that come out of functions */
    HG_IMPORT_MAX_PREFIX = 1024,      /* of names inside functions */
    HG_IMPORT_MAX_DOCUMENT = 1 << 20, /* bytes of one metadata entry */
    HG_IMPORT_NEWEST_IR = 14,
    HG_IMPORT_NEWEST_OPSET = 28
};
/* Bytes of nodes that come out of functions: the same few bytes can be asked for very often. */
#define HG_IMPORT_MAX_INLINED_BYTES (UINT64_C(1) << 32)

typedef struct hg_opset {
    hg_str domain;
    int32_t version;
} hg_opset;

typedef struct hg_opsets {
    hg_opset *list;
    size_t count;
} hg_opsets;

/* Attributes by name. */
typedef struct hg_named_attributes {
    hg_str *name;
    hg_wire *message;
    size_t count;
} hg_named_attributes;

typedef struct hg_function {
    hg_onnx_function view;
    hg_opsets opsets;
    hg_named_attributes defaults;
} hg_function;

typedef struct hg_callee {
    const hg_op *op;
    const hg_function *function; /* comes first */
    hg_str domain, name;         /* of an unknown one */
    hg_str first;                /* a node that wants it */
    uint64_t n_nodes;
} hg_callee;

typedef struct hg_frame hg_frame;

/* An attribute as written: the frame is where the names of its graph are looked up. */
typedef struct hg_import_attribute {
    hg_onnx_attribute view;
    const hg_frame *frame;
} hg_import_attribute;

typedef struct hg_call {
    const hg_frame *caller;
    const hg_function *function;
    hg_named_attributes given;
} hg_call;

struct hg_frame {
    const hg_frame
        *outer;          /* whose names are visible too; NULL for the model's graph and functions */
    const hg_call *call; /* NULL outside functions */
    const hg_opsets *opsets;
    hg_map names;  /* to value ids */
    hg_map hints;  /* names to places in hint, plus 1 */
    hg_wire *hint; /* ValueInfoProto of values inside */
    hg_region_id region;
    hg_str prefix; /* "layer_3/", put before names inside functions */
    uint32_t depth;
};

/* A name that stands for an absent optional value: an argument of a function that was not given. */
#define HG_VALUE_ABSENT UINT32_MAX

/* A dimension that options fix or bound. */
typedef struct hg_dim_choice {
    int64_t fixed;   /* -1: not */
    int64_t at_most; /* -1: not */
} hg_dim_choice;

/* A node whose operator has an older version than the one that is implemented. */
typedef struct hg_pending {
    hg_node_id node;
    int32_t opset;
} hg_pending;

typedef struct hg_importer {
    hg_graph *g;
    hg_ctx *ctx;
    const hg_import_options *options;
    hg_onnx_source source;
    hg_onnx_model model;
    hg_opsets opsets;

    hg_map callee_of; /* "domain:name:overload" to a place in callee, plus 1 */
    hg_callee *callee;
    size_t n_callee, callee_capacity;
    char *key; /* room for the key under construction */
    size_t key_capacity;

    hg_map choice_of; /* name of a dimension to a place in choice, plus 1 */
    hg_dim_choice *choice;
    size_t n_choice, choice_capacity;
    hg_map symbol_of; /* dimensions of the graph's inputs, by name, as ids */
    hg_map shape_of;  /* input name to a place in options->shapes, plus 1 */

    hg_pending *pending;
    size_t n_pending, pending_capacity;
    hg_value_id *in; /* inputs of the node under construction */
    size_t in_capacity;
    uint64_t n_inlined, inlined_bytes;

    /* What is being read, for sentences: "node 'x' (Conv): " or "initializer 'w': ". */
    const char *where; /* "node", "initializer", "input"; NULL at the top */
    hg_str where_name, where_op;
} hg_importer;

/* Bodies and function calls inside each other. */
static inline uint32_t hg_import_nesting(const hg_importer *im)
{
    return hg_limit_most(im->ctx->limits.nesting, HG_LIMIT_NESTING);
}

/* ---- import.c -------------------------------------------------------------------------------- */

/* A sentence with the place in front. */
holo_status hg_import_fail(const hg_importer *im, holo_status status, const char *format, ...)
    HG_PRINTF(3, 4);
/* The name if it can be shown, else "?". */
hg_str hg_import_shown(hg_str name);
/* Text of at most HG_IMPORT_MAX_NAME bytes; `what` is "name", "operator" ... */
/* A string of a tensor or attribute is not longer than allowed. */
HG_MUST_CHECK holo_status hg_import_check_string(const hg_importer *im, size_t length);
HG_MUST_CHECK holo_status hg_import_check_name(const hg_importer *im, const char *what,
                                               hg_str name);
/* prefix + name, in the arena when there is a prefix. */
HG_MUST_CHECK holo_status hg_import_full_name(const hg_importer *im, const hg_frame *frame,
                                              hg_str name, hg_str *out);
/* Gives a name a value in a frame; a second one is an error. */
HG_MUST_CHECK holo_status hg_import_define(const hg_importer *im, hg_frame *frame, hg_str name,
                                           hg_value_id value);
/* The value, HG_VALUE_ABSENT, or 0 when nothing visible has the name. */
hg_value_id hg_import_find(const hg_frame *frame, hg_str name);
HG_MUST_CHECK holo_status hg_import_read_opsets(const hg_importer *im, hg_wire_list list,
                                                hg_opsets *out);
/* Version of a domain, 0 when it is not imported. */
int32_t hg_import_opset(const hg_importer *im, const hg_frame *frame, hg_str domain);

/* ---- declare.c: types, dimensions, settings -------------------------------------------------- */

/* Reads options->dims and options->shapes. */
HG_MUST_CHECK holo_status hg_declare_settings(hg_importer *im);
/* A shape that is set for an input also fixes the named dimensions in it: called for all inputs
 * first. */
HG_MUST_CHECK holo_status hg_declare_note_input(hg_importer *im, const hg_onnx_value_info *input);
/* Every setting named something. */
HG_MUST_CHECK holo_status hg_declare_check_used(const hg_importer *im);
/* Type of an input of the graph: unknown dimensions become symbols. */
HG_MUST_CHECK holo_status hg_declare_input(hg_importer *im, const hg_onnx_value_info *input,
                                           hg_type *out);
/* After the input exists: its symbols know where they come from. */
void hg_declare_bind(hg_importer *im, hg_value_id input);
/* Type of any other value, a hint: what cannot be used is left unknown. */
HG_MUST_CHECK holo_status hg_declare_hint(hg_importer *im, hg_wire type, hg_type *out);

/* ---- tensor.c -------------------------------------------------------------------------------- */

/* A constant from a TensorProto or SparseTensorProto. `name` is the tensor's own when *name is
 * NULL. */
HG_MUST_CHECK holo_status hg_import_tensor(hg_importer *im, hg_wire tensor, hg_str name,
                                           hg_value_id *out);
HG_MUST_CHECK holo_status hg_import_sparse(hg_importer *im, hg_wire sparse, hg_str name,
                                           hg_value_id *out);

/* ---- attribute.c ----------------------------------------------------------------------------- */

/* Reads an attribute and follows its reference to an attribute of the enclosing function, if it is
 * one. *is_present is false when the reference leads nowhere: the attribute then has its default.
 */
HG_MUST_CHECK holo_status hg_attribute_read(hg_importer *im, const hg_frame *frame, hg_wire message,
                                            hg_import_attribute *out, bool *is_present);
/* Everything but graphs. */
HG_MUST_CHECK holo_status hg_attribute_convert(hg_importer *im, const hg_import_attribute *a,
                                               hg_attr *out);
/* The constant that a Constant node stands for. */
HG_MUST_CHECK holo_status hg_attribute_constant(hg_importer *im, const hg_frame *frame,
                                                hg_wire_list attributes, hg_str name,
                                                hg_value_id *out);

/* ---- order.c --------------------------------------------------------------------------------- */

/* The nodes of a list so that producers come first; the order of the file where that is so already.
 * The frame has the names that are there before. */
HG_MUST_CHECK holo_status hg_order_nodes(hg_importer *im, const hg_frame *frame, hg_wire_list nodes,
                                         hg_wire **out);

/* ---- node.c ---------------------------------------------------------------------------------- */

HG_MUST_CHECK holo_status hg_import_nodes(hg_importer *im, hg_frame *frame, hg_wire_list nodes);
/* Binds the name of an output and applies what is declared about it. "" is passed over. */
HG_MUST_CHECK holo_status hg_import_output(hg_importer *im, hg_frame *frame, hg_str name,
                                           hg_value_id value);

/* ---- function.c ------------------------------------------------------------------------------ */

HG_MUST_CHECK holo_status hg_function_read_all(hg_importer *im);
/* What (domain, op_type, overload) is; made on first use. */
HG_MUST_CHECK holo_status hg_function_callee(hg_importer *im, const hg_onnx_node *node,
                                             hg_callee **out);
/* Puts the body of a function in place of a node. */
HG_MUST_CHECK holo_status hg_function_inline(hg_importer *im, hg_frame *frame,
                                             const hg_onnx_node *node, const hg_function *function);

/* ---- region.c -------------------------------------------------------------------------------- */

HG_MUST_CHECK holo_status hg_import_main(hg_importer *im);
/* The graph of an attribute becomes a body; `frame` is where the attribute was written. */
HG_MUST_CHECK holo_status hg_import_body(hg_importer *im, const hg_frame *frame, hg_wire graph,
                                         hg_region_id region);

/* ---- upgrade.c ------------------------------------------------------------------------------- */

/* Rewrites the pending nodes to their current meaning. */
HG_MUST_CHECK holo_status hg_import_upgrade(hg_importer *im);

#endif
