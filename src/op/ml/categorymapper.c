/* categorymapper.c - CategoryMapper: texts to integers or integers to texts by two lists. */
#include "op/op_lookup.h"
#include "op/op_ml.h"

static holo_status categorymapper_infer(hg_infer *n)
{
    const hg_attr *texts, *numbers;
    hg_str text;
    int64_t number;
    HG_TRY(hg_ml_list(n, "cats_strings", HG_ATTR_STRINGS, &texts));
    HG_TRY(hg_ml_list(n, "cats_int64s", HG_ATTR_INTS, &numbers));
    HG_TRY(hg_attr_string(n, "default_string", "_Unused", &text));
    HG_TRY(hg_attr_int(n, "default_int64", -1, &number));
    if (texts->count == 0 || texts->count != numbers->count)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "cats_strings has %zu entries and cats_int64s %zu, expected as many",
                             texts->count, numbers->count);
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dtype = n->in[0]->dtype == HOLO_STRING ? HOLO_I64 : HOLO_STRING;
    return HOLO_OK;
}

/* It is a LabelEncoder of the same lists. */
static holo_status categorymapper_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0);
    const bool from_text = hg_build_type(b, x)->dtype == HOLO_STRING;
    hg_attr texts = *hg_ml_node_list(b->node, "cats_strings");
    hg_attr numbers = *hg_ml_node_list(b->node, "cats_int64s");
    texts.name = hg_str_from(from_text ? "keys_strings" : "values_strings");
    numbers.name = hg_str_from(from_text ? "values_int64s" : "keys_int64s");
    hg_attr other = hg_attr_make_int("default_int64", hg_node_int(b->node, "default_int64", -1));
    if (!from_text)
        other = (hg_attr){.name = hg_str_from("default_string"),
                          .kind = HG_ATTR_STRING,
                          .s = hg_node_string(b->node, "default_string", "_Unused")};
    const hg_attr attr[] = {texts, numbers, other};
    hg_build_replace(b, 0, hg_build_op(b, "ai.onnx.ml:LabelEncoder", &x, 1, attr, 3));
    return b->status;
}

const hg_op hg_op_ml_categorymapper = {
    .name = "CategoryMapper",
    .domain = "ai.onnx.ml",
    .brief = "texts to integers or integers to texts by two lists",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64),
    .infer = categorymapper_infer,
    .lower = categorymapper_lower,
};
