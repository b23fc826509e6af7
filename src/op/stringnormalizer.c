/* stringnormalizer.c - StringNormalizer: words without stop words, in upper or lower case. */
#include "op/op.h"
#include "op/op_string.h"

static holo_status stringnormalizer_infer(hg_infer *n)
{
    hg_str text;
    int64_t number;
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    HG_TRY(hg_attr_string(n, "case_change_action", "NONE", &text));
    HG_TRY(hg_attr_string(n, "locale", "", &text));
    HG_TRY(hg_attr_int(n, "is_case_sensitive", 0, &number));
    n->out[0] = *n->in[0];
    return HOLO_OK;
}

/* The language of a locale ("tr_TR.UTF-8", "tr", "Turkish_Turkey.1254") as far as it matters: which
 * letters belong together. */
static holo_status stringnormalizer_rules(hg_build *b, bool *turkic)
{
    static const char *const names[] = {"tr",  "tur",         "turkish", "az",
                                        "aze", "azerbaijani", "azeri"};
    static const char *const refused[] = {"lt", "lit", "lithuanian"};
    hg_str locale = hg_node_string(b->node, "locale", "");
    char language[16] = {0};
    size_t n = 0;
    while (n < locale.length && strchr("_-.@", locale.text[n]) == NULL)
        n++;
    for (size_t i = 0; n < sizeof language && i < n; i++)
        language[i] = (char)(locale.text[i] | 0x20); /* to lower case */
    *turkic = false;
    for (size_t i = 0; i < HG_COUNT(names); i++)
        if (strcmp(language, names[i]) == 0) *turkic = true;
    for (size_t i = 0; i < HG_COUNT(refused); i++)
        if (strcmp(language, refused[i]) == 0)
            return hg_build_fail(b, HOLO_E_UNSUPPORTED,
                                 "locale is \"%.*s\"; the case rules of Lithuanian are not known",
                                 HG_STR_ARG(locale));
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
    bool turkic;
    HG_TRY(stringnormalizer_rules(b, &turkic));
    const hg_attr attr[3] = {
        hg_attr_make_int("case", lower   ? 1
                                 : upper ? 2
                                         : 0),
        hg_attr_make_int("exact", hg_node_int(b->node, "is_case_sensitive", 0) != 0),
        hg_attr_make_int("turkic", turkic),
    };
    const hg_value_id in[2] = {
        hg_build_in(b, 0),
        hg_build_strings(b, given ? stop->strings : NULL, given ? (uint32_t)stop->count : 0)};
    hg_build_replace(b, 0, hg_build_op(b, "holo:NormalizeString", in, 2, attr, 3));
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
