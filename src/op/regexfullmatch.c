/* regexfullmatch.c - RegexFullMatch: which strings a regular expression describes as a whole. */
#include "kernel/regex_syntax.h"
#include "op/op.h"
#include "op/op_string.h"

static holo_status regexfullmatch_infer(hg_infer *n)
{
    hg_str pattern;
    hg_regex_flaw flaw;
    HG_TRY(hg_attr_string(n, "pattern", "", &pattern));
    if (hg_node_attr(n->node, "pattern") == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "pattern is missing");
    (void)hg_regex_translate(pattern.text, pattern.length, NULL, 0, &flaw);
    if (flaw.what != NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "pattern \"%.*s\", byte %zu: %s", HG_STR_ARG(pattern),
                             flaw.at, flaw.what);
    return hg_infer_same_shape_bool(n);
}

static holo_status regexfullmatch_lower(hg_build *b)
{
    hg_str pattern = hg_node_string(b->node, "pattern", "");
    const hg_value_id in[2] = {hg_build_in(b, 0), hg_build_strings(b, &pattern, 1)};
    hg_build_replace(b, 0, hg_build_op(b, "holo:MatchRegex", in, 2, NULL, 0));
    return b->status;
}

const hg_op hg_op_regexfullmatch = {
    .name = "RegexFullMatch",
    .brief = "which strings a regular expression (RE2 syntax) describes as a whole",
    .since = 20,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .infer = regexfullmatch_infer,
    .lower = regexfullmatch_lower,
};
