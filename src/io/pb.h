/* pb.h - the ONNX messages that carry values: TensorProto, SequenceProto, OptionalProto, MapProto.
 *
 * Readers work on a span of bytes and trust nothing in it: a size is compared with the bytes that
 * are there before memory is taken. The results are owned trees, freed with hg_io_tensor_free. */
#ifndef HG_IO_PB_H
#define HG_IO_PB_H

#include "base/base.h"

#include <stdio.h>

/* One value. The wire format does not say which message it is, so `kind` does: SEQUENCE, OPTIONAL
 * or MAP, anything else is a tensor. Status: E_MODEL, E_TYPE, E_LIMIT, E_NOMEM. */
HG_MUST_CHECK holo_status hg_pb_read(const void *data, size_t size, holo_dtype kind,
                                     holo_tensor *out, holo_error *error);
HG_MUST_CHECK holo_status hg_pb_read_file(const char *path, holo_dtype kind, holo_tensor *out,
                                          holo_error *error);

/* Writes a tensor as TensorProto, as raw_data or string_data. name may be NULL. */
HG_MUST_CHECK holo_status hg_pb_write_stream(FILE *stream, const char *name,
                                             const holo_tensor *tensor, holo_error *error);

enum { HG_PB_MAX_NODE_INPUTS = 4 };

typedef struct hg_pb_node {
    holo_string op;
    holo_string domain;
    holo_string input[HG_PB_MAX_NODE_INPUTS]; /* the first ones */
    uint32_t n_input;
} hg_pb_node;

/* Calls visit for every node of a model, those of subgraphs and functions too, in file order. The
 * texts are views of the data. */
HG_MUST_CHECK holo_status hg_pb_visit_nodes(const void *data, size_t size,
                                            void (*visit)(void *user, const hg_pb_node *node),
                                            void *user, holo_error *error);

#endif
