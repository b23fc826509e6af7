/* stringnormalizer.c - StringNormalizer: words without stop words, in upper or lower case. */
#include "op/op.h"
#include "op/op_string.h"

static holo_status stringnormalizer_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    n->out[0] = *n->in[0];
    return HOLO_OK;
}

static holo_status stringnormalizer_lower(hg_build *b)
{
    hg_str change = hg_node_string(b->node, "case_change_action", "NONE");
    const hg_attr *stop = hg_node_attr(b->node, "stopwords");
    bool given = stop != NULL && stop->kind == HG_ATTR_STRINGS;
    bool lower = hg_str_is(change, "LOWER"), upper = hg_str_is(change, "UPPER");
    if (!lower && !upper && !hg_str_is(change, "NONE"))
        return hg_build_fail(b, HOLO_E_MODEL,
                             "case_change_action is \"%.*s\", expected LOWER, UPPER or NONE",
                             HG_STR_ARG(change));
    const hg_attr attr[2] = {
        hg_attr_make_int("case", lower   ? 1
                                 : upper ? 2
                                         : 0),
        hg_attr_make_int("exact", hg_node_int(b->node, "is_case_sensitive", 0) != 0),
    };
    const hg_value_id in[2] = {
        hg_build_in(b, 0),
        hg_build_strings(b, given ? stop->strings : NULL, given ? (uint32_t)stop->count : 0)};
    hg_build_replace(b, 0, hg_build_op(b, "holo:NormalizeString", in, 2, attr, 2));
    return b->status;
}

const hg_op hg_op_stringnormalizer = {
    .name = "StringNormalizer",
    .brief = "words without stop words, in upper or lower case",
    .since = 10,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_STRING,
    .infer = stringnormalizer_infer,
    .lower = stringnormalizer_lower,
};
