/* mapplace.c - holo:MapPlace: values of a map, each at the place that belongs to its key.
 * Attributes: places, how many; strict, 1: every key must have one. */
#include "op/op_map.h"

static holo_status mapplace_infer(hg_infer *n)
{
    holo_dtype value;
    int64_t places;
    HG_TRY(hg_map_types(n, HG_MAP_KEYS, HG_MAP_VALUES, &value));
    HG_TRY(hg_attr_int(n, "places", 0, &places));
    n->out[0] = (hg_type){.dtype = value, .rank = 2};
    n->out[0].dim[0] = hg_dim_const(n->dims, 1);
    n->out[0].dim[1] = hg_dim_const(n->dims, places);
    return HOLO_OK;
}

static holo_status mapplace_emit(hg_emit *e)
{
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "places", 0)));
    return hg_emit_int(e, hg_node_int(e->node, "strict", 0));
}

const hg_op hg_op_internal_mapplace = {
    .name = "MapPlace",
    .domain = "holo",
    .brief = "values of a map, each at the place that belongs to its key",
    .since = 1,
    .in = {2, 5},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = mapplace_infer,
    .kernel = "map.place",
    .emit = mapplace_emit,
};
