/* op_sequence.h - what operators on sequences and optionals share. */
#ifndef HG_OP_OP_SEQUENCE_H
#define HG_OP_OP_SEQUENCE_H

#include "op/op_body.h"

/* Input 0 is a container of that type; *item is the type of its items. */
HG_MUST_CHECK holo_status hg_sequence_item(const hg_infer *n, holo_dtype dtype,
                                           const hg_type **item);
/* Input i, if there, is an integer scalar: a position. */
HG_MUST_CHECK holo_status hg_sequence_position(const hg_infer *n, uint32_t i);
/* Out[0] is an item: its unknown dims are found at run time. */
void hg_sequence_give_item(hg_infer *n, const hg_type *item);
/* A scalar that holds a dimension, as int64 or bool, in place of output 0. */
HG_MUST_CHECK holo_status hg_sequence_replace_by_dim(hg_build *b, hg_dim dim, holo_dtype dtype);

#endif
