/* labelencoder.c - LabelEncoder: a table from keys to values, with a value for all other keys. Of
 * equal keys the last counts; NaN is equal to NaN. */
#include "op/op_lookup.h"
#include "op/op_ml.h"
#include "op/op_string.h"

#define LABELENCODER_TYPES                                                                         \
    (HG_TYPES_STRING | HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_I32) |     \
     HG_TYPE_BIT(HOLO_I16) | HG_TYPE_BIT(HOLO_F64))

/* ---- version 1: a list of texts and their places
 * -------------------------------------------------------------------------------------------- */

static holo_status labelencoder_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 2) return HOLO_OK;
    hg_build b;
    hg_build_init(&b, g, id);
    const hg_attr *classes = hg_ml_node_list(b.node, "classes_strings");
    const bool from_text = hg_build_type(&b, hg_build_in(&b, 0))->dtype == HOLO_STRING;
    int64_t *place;
    HG_TRY(HG_NEW(g->ctx, classes->count + 1, &place));
    for (size_t i = 0; i < classes->count; i++)
        place[i] = (int64_t)i;
    hg_attr texts = *classes,
            numbers = {.kind = HG_ATTR_INTS, .ints = place, .count = classes->count};
    if (classes->count != 0 && classes->kind != HG_ATTR_STRINGS)
        return hg_build_fail(&b, HOLO_E_MODEL, "classes_strings is no list of strings");
    texts.kind = HG_ATTR_STRINGS;
    texts.name = hg_str_from(from_text ? "keys_strings" : "values_strings");
    numbers.name = hg_str_from(from_text ? "values_int64s" : "keys_int64s");
    HG_TRY(hg_graph_set_attr(g, id, texts));
    return hg_graph_set_attr(g, id, numbers);
}

/* ---- tables
 * -------------------------------------------------------------------------------------------- */

/* The only one of "keys_tensor", "keys_strings" ... that is present. */
static holo_status labelencoder_list(const hg_infer *n, const char *const name[4], hg_keys *out)
{
    static const holo_dtype types[3] = {HOLO_STRING, HOLO_I64, HOLO_F32};
    int found = 0;
    for (int i = 0; i < 4; i++) {
        hg_keys list;
        bool present;
        HG_TRY(hg_keys_read(n, name[i], &list, &present));
        if (!present) continue;
        if (++found > 1) return hg_infer_fail(n, HOLO_E_MODEL, "%s is a second list", name[i]);
        if (!hg_dtype_in(list.dtype, i == 0 ? LABELENCODER_TYPES : HG_TYPE_BIT(types[i - 1])))
            return hg_infer_fail(n, HOLO_E_TYPE, "%s holds %s", name[i],
                                 holo_dtype_text(list.dtype));
        *out = list;
    }
    if (found == 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "none of %s, %s, %s and %s is there", name[0],
                             name[1], name[2], name[3]);
    return HOLO_OK;
}

static holo_status labelencoder_tables(const hg_infer *n, hg_keys *keys, hg_keys *values)
{
    static const char *const key_names[4] = {"keys_tensor", "keys_strings", "keys_int64s",
                                             "keys_floats"};
    static const char *const value_names[4] = {"values_tensor", "values_strings", "values_int64s",
                                               "values_floats"};
    HG_TRY(labelencoder_list(n, key_names, keys));
    HG_TRY(labelencoder_list(n, value_names, values));
    if (keys->count != values->count)
        return hg_infer_fail(n, HOLO_E_MODEL, "%zu keys for %zu values", keys->count,
                             values->count);
    return HOLO_OK;
}

/* The bytes of the value for other keys. */
static holo_status labelencoder_other(const hg_infer *n, holo_dtype dtype, hg_keys *out)
{
    hg_str text;
    int64_t *integer;
    double number;
    float *narrow;
    holo_string *string;
    bool present;
    HG_TRY(hg_keys_read(n, "default_tensor", out, &present));
    if (present && (out->dtype != dtype || out->count != 1))
        return hg_infer_fail(n, HOLO_E_MODEL, "default_tensor is %s of %zu elements, expected 1 %s",
                             holo_dtype_text(out->dtype), out->count, holo_dtype_text(dtype));
    if (present) return HOLO_OK;
    HG_TRY(hg_attr_string(n, "default_string", "_Unused", &text));
    HG_TRY(HG_NEW(n->ctx, 1, &integer));
    HG_TRY(HG_NEW(n->ctx, 1, &string));
    HG_TRY(HG_NEW(n->ctx, 1, &narrow));
    HG_TRY(hg_attr_int(n, "default_int64", -1, integer));
    HG_TRY(hg_attr_float(n, "default_float", -0.0, &number));
    *string = (holo_string){text.length == 0 ? "" : text.text, text.length};
    *narrow = (float)number;
    *out = (hg_keys){dtype == HOLO_STRING ? HOLO_STRING
                     : dtype == HOLO_F32  ? HOLO_F32
                     : dtype == HOLO_F64  ? HOLO_F32
                                          : HOLO_I64,
                     1, NULL};
    out->data = out->dtype == HOLO_STRING ? (const void *)string
                : out->dtype == HOLO_F32  ? (const void *)narrow
                                          : (const void *)integer;
    return HOLO_OK;
}

static holo_status labelencoder_infer(hg_infer *n)
{
    hg_keys keys, values, other;
    HG_TRY(labelencoder_tables(n, &keys, &values));
    if (keys.dtype != n->in[0]->dtype)
        return hg_infer_fail(n, HOLO_E_TYPE, "input 0 is %s, but the keys are %s",
                             holo_dtype_text(n->in[0]->dtype), holo_dtype_text(keys.dtype));
    HG_TRY(labelencoder_other(n, values.dtype, &other));
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dtype = values.dtype;
    return HOLO_OK;
}

static hg_value_id labelencoder_constant(hg_build *b, const hg_keys *list)
{
    hg_type type = {.dtype = list->dtype, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, (int64_t)list->count);
    return hg_build_const(b, type, list->data, list->count * hg_dtype_bits(list->dtype) / 8);
}

static holo_status labelencoder_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_attr axis = hg_attr_make_int("axis", 0);
    hg_keys keys, values, other;
    HG_TRY(labelencoder_tables(&n, &keys, &values));
    HG_TRY(labelencoder_other(&n, values.dtype, &other));
    if (values.dtype == HOLO_I64 && other.dtype == HOLO_I64) {
        hg_build_replace(
            b, 0,
            hg_keys_say(b, hg_build_in(b, 0), &keys, values.data, *(const int64_t *)other.data));
        return b->status;
    }
    hg_value_id index = hg_keys_find(b, hg_build_in(b, 0), &keys, false);
    hg_value_id last = hg_build_cast(b, labelencoder_constant(b, &other), values.dtype);
    hg_value_id all[2] = {labelencoder_constant(b, &values), last};
    hg_value_id table = hg_build_op(b, "Concat", all, 2, &axis, 1);
    hg_build_replace(b, 0, hg_build_2(b, "Gather", table, index));
    return b->status;
}

const hg_op hg_op_ml_labelencoder = {
    .name = "LabelEncoder",
    .domain = "ai.onnx.ml",
    .brief = "a table from keys to values",
    .since = 1,
    .version = 4,
    .in = {1, 1},
    .out = {1, 1},
    .types = LABELENCODER_TYPES,
    .upgrade = labelencoder_upgrade,
    .infer = labelencoder_infer,
    .lower = labelencoder_lower,
};
