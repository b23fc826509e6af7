/* dictvectorizer.c - DictVectorizer: values of a map in the order of a vocabulary, [1,c]; 0 or an
 * empty text for words that the map does not have. Keys that are no words are left out. */
#include "op/op_lookup.h"
#include "op/op_map.h"
#include "op/op_ml.h"
#include "op/op_string.h"

static holo_status dictvectorizer_infer(hg_infer *n)
{
    const hg_attr *words;
    holo_dtype value;
    HG_TRY(hg_map_types(n, HG_MAP_KEYS, HG_MAP_VALUES, &value));
    HG_TRY(hg_ml_labels(n, "int64_vocabulary", "string_vocabulary", &words));
    const bool is_text = n->in[0]->key == HOLO_STRING;
    if (words->count == 0 || is_text != (words->kind == HG_ATTR_STRINGS))
        return hg_infer_fail(n, HOLO_E_MODEL, "%s has no entries, but the keys are %s",
                             is_text ? "string_vocabulary" : "int64_vocabulary",
                             holo_dtype_text(n->in[0]->key));
    n->out[0] = (hg_type){.dtype = value, .rank = 2};
    n->out[0].dim[0] = hg_dim_const(n->dims, 1);
    n->out[0].dim[1] = hg_dim_const(n->dims, (int64_t)words->count);
    return HOLO_OK;
}

/* A value goes to the last place of its word; other places of the word get it from there. */
static hg_value_id dictvectorizer_repeat(hg_build *b, hg_value_id y, const hg_keys *words)
{
    const hg_attr axis = hg_attr_make_int("axis", 1);
    int64_t *last;
    bool repeats = false;
    if (b->status == HOLO_OK) b->status = hg_keys_last(b->ctx, words, &last);
    if (b->status != HOLO_OK) return 0;
    for (size_t i = 0; i < words->count; i++)
        repeats |= last[i] != (int64_t)i;
    if (!repeats) return y;
    hg_value_id in[2] = {y, hg_build_ints(b, last, (uint32_t)words->count)};
    return hg_build_op(b, "Gather", in, 2, &axis, 1);
}

static holo_status dictvectorizer_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const holo_dtype value = hg_build_type(b, b->node->out[0])->dtype;
    const hg_str empty = {"", 0};
    hg_keys words;
    hg_table table;
    bool present;
    HG_TRY(hg_keys_read(&n, "string_vocabulary", &words, &present));
    if (!present) HG_TRY(hg_keys_read(&n, "int64_vocabulary", &words, &present));
    HG_TRY(hg_keys_table(b, &words, &table));
    hg_value_id other =
        value == HOLO_STRING ? hg_build_strings(b, &empty, 1) : hg_build_scalar(b, value, 0.0);
    hg_value_id in[5] = {hg_build_in(b, 0), other, table.keys, table.slots, table.place};
    const hg_attr places = hg_attr_make_int("places", (int64_t)words.count);
    hg_value_id y = hg_build_op(b, "holo:MapPlace", in, 5, &places, 1);
    hg_build_replace(b, 0, dictvectorizer_repeat(b, y, &words));
    return b->status;
}

const hg_op hg_op_ml_dictvectorizer = {
    .name = "DictVectorizer",
    .domain = "ai.onnx.ml",
    .brief = "values of a map in the order of a vocabulary",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .infer = dictvectorizer_infer,
    .lower = dictvectorizer_lower,
};
