/* mapdense.c - holo:MapDense: values of a map in the order of its keys. */
#include "op/op_map.h"

static holo_status mapdense_infer(hg_infer *n)
{
    holo_dtype value;
    HG_TRY(hg_map_types(n, HG_TYPE_BIT(HOLO_I64), HG_MAP_VALUES, &value));
    n->out[0] = (hg_type){.dtype = value, .rank = 2};
    n->out[0].dim[0] = hg_dim_const(n->dims, 1);
    n->out[0].dim[1] = hg_infer_late_dim(n, 0, 1);
    return HOLO_OK;
}

const hg_op hg_op_internal_mapdense = {
    .name = "MapDense",
    .domain = "holo",
    .brief = "values of a map in the order of its keys",
    .since = 1,
    .in = {1, 1},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL,
    .infer = mapdense_infer,
    .kernel = "map.dense",
};
