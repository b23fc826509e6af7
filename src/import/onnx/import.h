/* import.h - an ONNX model becomes a graph. */
#ifndef HG_IMPORT_IMPORT_H
#define HG_IMPORT_IMPORT_H

#include "base/file.h"
#include "graph/graph.h"
#include "import/onnx/external.h"

typedef struct hg_import_options {
    const char *base_dir;  /* folder of the model, for external data; NULL refuses it. "" is "." */
    hg_external *external; /* keeps the files mapped; with base_dir, never NULL */
    const hg_file *file; /* the file that data lies in, or NULL: no external data may be in it, and
                            pages whose bytes had to be copied are let go */
    const holo_dim_setting *dims;
    size_t n_dims;
    const holo_shape_setting *shapes;
    size_t n_shapes;
    /* One flag per setting, set to true when the model has such a dimension or input and left alone
     * otherwise. Without flags (NULL) a setting that names nothing is an error; with them the
     * caller, who may have several models, checks in the end. */
    bool *dim_is_used;
    bool *shape_is_used;
} hg_import_options;

/* Reads a model into g, which is new. Names and the bytes of constants are views: data, and the
 * files of options->external, must outlive the graph. Functions are inlined and old operator
 * versions rewritten to their current meaning, so that nothing downstream knows of opsets. Types
 * are declared, not inferred. Uses ctx->scratch and resets it. Errors go to g->ctx->error. Status:
 * E_MODEL, E_UNSUPPORTED, E_SHAPE, E_ARG (a setting), E_IO (external data), E_LIMIT, E_NOMEM. */
HG_MUST_CHECK holo_status hg_import_onnx(hg_graph *g, const void *data, size_t size,
                                         const hg_import_options *options);

#endif
