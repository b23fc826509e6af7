/* castmap.c - CastMap: values of a map from int64 as a tensor [1,c] of another type, in the order
 * of the keys (DENSE) or at the place that the key is (SPARSE), where others are 0, or an empty
 * text when texts become texts. */
#include "op/op_map.h"
#include "op/op_string.h"

static bool castmap_type(hg_str name, holo_dtype *out)
{
    static const char *const names[] = {"TO_FLOAT", "TO_STRING", "TO_INT64"};
    static const holo_dtype types[] = {HOLO_F32, HOLO_STRING, HOLO_I64};
    for (size_t i = 0; i < HG_COUNT(names); i++) {
        *out = types[i];
        if (hg_str_is(name, names[i])) return true;
    }
    return false;
}

static holo_status castmap_infer(hg_infer *n)
{
    hg_str to, form;
    int64_t places;
    holo_dtype value, dtype;
    HG_TRY(hg_map_types(n, HG_TYPE_BIT(HOLO_I64), HG_TYPES_STRING | HG_TYPE_BIT(HOLO_F32), &value));
    HG_TRY(hg_attr_string(n, "cast_to", "TO_FLOAT", &to));
    HG_TRY(hg_attr_string(n, "map_form", "DENSE", &form));
    HG_TRY(hg_attr_int(n, "max_map", 1, &places));
    if (!castmap_type(to, &dtype))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "cast_to is \"%.*s\", expected TO_FLOAT, TO_STRING or TO_INT64",
                             HG_STR_ARG(to));
    const bool sparse = hg_str_is(form, "SPARSE");
    if (!sparse && !hg_str_is(form, "DENSE"))
        return hg_infer_fail(n, HOLO_E_MODEL, "map_form is \"%.*s\", expected DENSE or SPARSE",
                             HG_STR_ARG(form));
    if (sparse && (places < 1 || places > INT32_MAX))
        return hg_infer_fail(n, HOLO_E_MODEL, "max_map is %lld, expected 1 to %d",
                             (long long)places, INT32_MAX);
    n->out[0] = (hg_type){.dtype = dtype, .rank = 2};
    n->out[0].dim[0] = hg_dim_const(n->dims, 1);
    /* The rewrite finds how many values there are. */
    n->out[0].dim[1] = hg_dim_const(n->dims, sparse ? places : 0);
    return HOLO_OK;
}

/* What stands at places without a key must survive the cast. */
static hg_value_id castmap_other(hg_build *b, holo_dtype from, holo_dtype to)
{
    const hg_str text = hg_str_from(to == HOLO_STRING ? "" : "0");
    return from == HOLO_STRING ? hg_build_strings(b, &text, 1) : hg_build_scalar(b, from, 0.0);
}

static holo_status castmap_lower(hg_build *b)
{
    hg_value_id map = hg_build_in(b, 0), y;
    const holo_dtype from = hg_build_type(b, map)->item->dtype;
    const holo_dtype to = hg_build_type(b, b->node->out[0])->dtype;
    if (hg_str_is(hg_node_string(b->node, "map_form", "DENSE"), "SPARSE")) {
        const hg_attr attr[] = {
            hg_attr_make_int("places", hg_node_int(b->node, "max_map", 1)),
            hg_attr_make_int("strict", 1),
        };
        hg_value_id in[2] = {map, castmap_other(b, from, to)};
        y = hg_build_op(b, "holo:MapPlace", in, 2, attr, 2);
    } else {
        y = hg_build_1(b, "holo:MapDense", map);
    }
    hg_build_replace(b, 0, hg_build_cast(b, y, to));
    return b->status;
}

const hg_op hg_op_ml_castmap = {
    .name = "CastMap",
    .domain = "ai.onnx.ml",
    .brief = "values of a map as a tensor",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .infer = castmap_infer,
    .lower = castmap_lower,
};
