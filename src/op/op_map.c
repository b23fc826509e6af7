/* op_map.c - what operators on maps share. */
#include "op/op_map.h"

holo_status hg_map_types(const hg_infer *n, hg_types keys, hg_types values, holo_dtype *value)
{
    const hg_type *map = n->in[0];
    if (map->dtype != HOLO_MAP || map->item == NULL)
        return hg_infer_fail(n, HOLO_E_TYPE, "input 0 is %s, expected a map",
                             holo_dtype_text(map->dtype));
    *value = map->item->dtype;
    if (hg_dtype_in(map->key, keys) && hg_dtype_in(*value, values)) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_TYPE, "a map from %s to %s is not supported",
                         holo_dtype_text(map->key), holo_dtype_text(*value));
}

holo_status hg_map_infer_rows(hg_infer *n, holo_dtype key)
{
    hg_type *map, *value;
    HG_TRY(HG_NEW(n->ctx, 1, &map));
    HG_TRY(HG_NEW(n->ctx, 1, &value));
    *value = (hg_type){.dtype = HOLO_F32};
    *map = (hg_type){.dtype = HOLO_MAP, .rank = HG_RANK_UNKNOWN, .item = value, .key = key};
    n->out[0] = (hg_type){.dtype = HOLO_SEQUENCE, .rank = 1, .item = map};
    n->out[0].dim[0] = n->in[0]->rank == 2 ? n->in[0]->dim[0] : hg_dim_const(n->dims, 1);
    return HOLO_OK;
}
