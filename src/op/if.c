/* if.c - If: runs one of two branches. Inference makes graphs of the bodies (pass/outline.h). */
#include "op/op.h"

const hg_op hg_op_if = {
    .name = "If",
    .brief = "runs one of two branches",
    .since = 1,
    .version = 25,
    .in = {1, 1},
    .out = {0, -1},
    .flags = HG_OP_EFFECT,
    .n_body = 2,
    .body = {"then_branch", "else_branch"},
};
