/* scan.c - Scan: a body over the slices of its inputs. Inference makes graphs of the bodies
 * (pass/outline.h). */
#include "op/op.h"

const hg_op hg_op_scan = {
    .name = "Scan",
    .brief = "a body over the slices of its inputs",
    .since = 8,
    .version = 25,
    .in = {1, -1},
    .out = {1, -1},
    .flags = HG_OP_EFFECT,
    .n_body = 1,
};
