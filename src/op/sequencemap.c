/* sequencemap.c - SequenceMap: a body over the items of sequences. Inference makes graphs of the
 * bodies (pass/outline.h). */
#include "op/op.h"

const hg_op hg_op_sequencemap = {
    .name = "SequenceMap",
    .brief = "a body over the items of sequences",
    .since = 17,
    .version = 17,
    .in = {1, -1},
    .out = {1, -1},
    .flags = HG_OP_EFFECT,
    .n_body = 1,
    .body = {"body"},
};
