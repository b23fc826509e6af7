/* op_sequence.c - what operators on sequences and optionals share. */
#include "op/op_sequence.h"

holo_status hg_sequence_item(const hg_infer *n, holo_dtype dtype, const hg_type **item)
{
    if (n->in[0]->dtype != dtype || n->in[0]->item == NULL)
        return hg_infer_fail(n, HOLO_E_TYPE, "input 0 is %s, expected %s",
                             holo_dtype_text(n->in[0]->dtype), holo_dtype_text(dtype));
    *item = n->in[0]->item;
    return HOLO_OK;
}

holo_status hg_sequence_position(const hg_infer *n, uint32_t i)
{
    if (!hg_infer_has(n, i)) return HOLO_OK;
    HG_TRY(hg_infer_types(n, i, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    return hg_infer_rank(n, i, 0, 1);
}

void hg_sequence_give_item(hg_infer *n, const hg_type *item)
{
    n->out[0] = *item;
    if (hg_type_is_container(item)) {
        n->out[0].rank = 1;
        n->out[0].dim[0] = 0;
    }
    hg_infer_late_rest(n, 0);
}

holo_status hg_sequence_replace_by_dim(hg_build *b, hg_dim dim, holo_dtype dtype)
{
    hg_value_id list = hg_build_dims(b, &dim, 1), scalar = hg_build_ints(b, NULL, 0);
    hg_build_replace(b, 0, hg_build_cast(b, hg_build_2(b, "Reshape", list, scalar), dtype));
    return b->status;
}
