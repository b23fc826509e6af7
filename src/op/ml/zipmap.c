/* zipmap.c - ZipMap: a map from labels to values for each row. */
#include "op/op_lookup.h"
#include "op/op_map.h"
#include "op/op_ml.h"

static holo_status zipmap_infer(hg_infer *n)
{
    const hg_attr *labels;
    HG_TRY(hg_ml_labels(n, "classlabels_int64s", "classlabels_strings", &labels));
    if (labels->count == 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "classlabels_int64s and classlabels_strings have no entries");
    HG_TRY(hg_ml_features(n, (int64_t)labels->count));
    return hg_map_infer_rows(n, labels->kind == HG_ATTR_STRINGS ? HOLO_STRING : HOLO_I64);
}

static holo_status zipmap_lower(hg_build *b)
{
    const hg_infer n = hg_ml_infer(b);
    const hg_attr *labels = hg_ml_node_labels(b->node, "classlabels_int64s", "classlabels_strings");
    hg_keys keys;
    int64_t *last;
    bool present;
    HG_TRY(hg_keys_read(
        &n, labels->kind == HG_ATTR_STRINGS ? "classlabels_strings" : "classlabels_int64s", &keys,
        &present));
    HG_TRY(hg_keys_last(b->ctx, &keys, &last));
    for (size_t i = 0; i < keys.count; i++)
        if (last[i] != (int64_t)i)
            return hg_build_fail(b, HOLO_E_MODEL, "labels %zu and %lld are equal", i,
                                 (long long)last[i]);
    hg_value_id in[2] = {hg_build_in(b, 0), hg_ml_constant(b, labels)};
    hg_build_replace(b, 0, hg_build_op(b, "holo:ZipMap", in, 2, NULL, 0));
    return b->status;
}

const hg_op hg_op_ml_zipmap = {
    .name = "ZipMap",
    .domain = "ai.onnx.ml",
    .brief = "a map from labels to values for each row",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .infer = zipmap_infer,
    .lower = zipmap_lower,
};
