/* matchregex.c - holo:MatchRegex: which strings a pattern, which is an input, describes as a whole.
 */
#include "op/op.h"

static holo_status matchregex_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_TYPES_STRING));
    return hg_infer_same_shape_bool(n);
}

const hg_op hg_op_internal_matchregex = {
    .name = "MatchRegex",
    .domain = "holo",
    .brief = "which strings a regular expression describes as a whole",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .flags = HG_OP_INTERNAL,
    .infer = matchregex_infer,
    .kernel = "regex.match",
    .library = "libhologram_ext built with PCRE2 (Debian: libpcre2-dev): link it and pass "
               "holo_kernels_ext() as extra",
};
