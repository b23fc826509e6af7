/* stringconcat.c - StringConcat: the text of one tensor followed by that of another. */
#include "op/op.h"

const hg_op hg_op_stringconcat = {
    .name = "StringConcat",
    .brief = "the text of one tensor followed by that of another",
    .since = 20,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .infer = hg_infer_broadcast,
    .kernel = "string.concat",
};
