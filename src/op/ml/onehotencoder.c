/* onehotencoder.c - OneHotEncoder: each element becomes a row with a 1 at the place of its
 * category. Of equal categories the last counts. Floats are looked up without their fraction. */
#include "op/op_lookup.h"
#include "op/op_ml.h"

static holo_status onehotencoder_infer(hg_infer *n)
{
    const hg_attr *list;
    int64_t zeros;
    HG_TRY(hg_ml_labels(n, "cats_int64s", "cats_strings", &list));
    HG_TRY(hg_attr_int(n, "zeros", 1, &zeros));
    const bool is_text = n->in[0]->dtype == HOLO_STRING;
    if (list->count == 0 || is_text != (list->kind == HG_ATTR_STRINGS))
        return hg_infer_fail(n, HOLO_E_MODEL, "%s has no entries, but input 0 is %s",
                             is_text ? "cats_strings" : "cats_int64s",
                             holo_dtype_text(n->in[0]->dtype));
    HG_TRY(hg_infer_rank(n, 0, 0, HG_MAX_RANK - 1));
    HG_TRY(hg_infer_same_as_input(n));
    n->out[0].dtype = HOLO_F32;
    n->out[0].dim[n->out[0].rank++] = hg_dim_const(n->dims, (int64_t)list->count);
    return HOLO_OK;
}

static holo_status onehotencoder_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const bool strict = hg_node_int(b->node, "zeros", 1) == 0;
    const float values[2] = {0.0F, 1.0F};
    hg_keys keys;
    bool present;
    HG_TRY(hg_keys_read(&n, "cats_strings", &keys, &present));
    if (!present) HG_TRY(hg_keys_read(&n, "cats_int64s", &keys, &present));
    const int64_t count = (int64_t)keys.count;
    hg_value_id index = hg_keys_find(b, hg_build_in(b, 0), &keys, strict);
    /* The place behind the last category is outside: OneHot leaves that row empty. */
    hg_build_replace(b, 0,
                     hg_build_3(b, "OneHot", index, hg_build_ints(b, &count, 1),
                                hg_ml_floats(b, values, 2, HOLO_F32)));
    return b->status;
}

const hg_op hg_op_ml_onehotencoder = {
    .name = "OneHotEncoder",
    .domain = "ai.onnx.ml",
    .brief = "each element becomes a row with a 1 at the place of its category",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_ML_TYPES | HG_TYPES_STRING,
    .infer = onehotencoder_infer,
    .lower = onehotencoder_lower,
};
