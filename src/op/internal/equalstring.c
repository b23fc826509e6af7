/* equalstring.c - holo:EqualString: whether two texts are the same. */
#include "op/op.h"

const hg_op hg_op_internal_equalstring = {
    .name = "EqualString",
    .domain = "holo",
    .brief = "whether two texts are the same",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .flags = HG_OP_INTERNAL,
    .infer = hg_infer_broadcast_bool,
    .kernel = "equal.string",
};
