/* zipmap.c - holo:ZipMap: a map from keys, which are an input, to values for each row. */
#include "op/op_map.h"

static holo_status zipmap_infer(hg_infer *n)
{
    HG_TRY(hg_infer_types(n, 1, HG_MAP_KEYS));
    HG_TRY(hg_infer_rank(n, 0, 1, 2));
    return hg_map_infer_rows(n, n->in[1]->dtype);
}

const hg_op hg_op_internal_zipmap = {
    .name = "ZipMap",
    .domain = "holo",
    .brief = "a map from keys to values for each row",
    .since = 1,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = zipmap_infer,
    .kernel = "map.zip",
};
