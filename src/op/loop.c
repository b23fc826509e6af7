/* loop.c - Loop: repeats a body. Inference makes graphs of the bodies (pass/outline.h). */
#include "op/op.h"

const hg_op hg_op_loop = {
    .name = "Loop",
    .brief = "repeats a body",
    .since = 1,
    .version = 25,
    .in = {0, -1},
    .out = {0, -1},
    .flags = HG_OP_EFFECT,
    .n_body = 1,
    .body = {"body"},
};
