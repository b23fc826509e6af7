/* sequenceinsert.c - SequenceInsert: the sequence with one more item. */
#include "op/op_sequence.h"

static holo_status sequenceinsert_infer(hg_infer *n)
{
    const hg_type *item;
    hg_type joined = *n->in[1];
    bool possible = true;
    HG_TRY(hg_sequence_item(n, HOLO_SEQUENCE, &item));
    HG_TRY(hg_sequence_position(n, 2));
    if (!hg_dim_is(n->dims, n->in[0]->dim[0], 0))
        HG_TRY(hg_type_join(n->ctx, item, n->in[1], &joined, &possible));
    if (!possible || (item->dtype != HOLO_NONE && item->dtype != n->in[1]->dtype))
        return hg_infer_fail(n, HOLO_E_TYPE, "%s goes into a sequence of %s",
                             holo_dtype_text(n->in[1]->dtype), holo_dtype_text(item->dtype));
    HG_TRY(hg_infer_container(n, 0, HOLO_SEQUENCE, &joined));
    n->out[0].dim[0] = hg_dim_add(n->dims, n->in[0]->dim[0], hg_dim_const(n->dims, 1));
    return HOLO_OK;
}

const hg_op hg_op_sequenceinsert = {
    .name = "SequenceInsert",
    .brief = "the sequence with one more item",
    .since = 11,
    .in = {2, 3},
    .out = {1, 1},
    .infer = sequenceinsert_infer,
    .kernel = "sequence.insert",
};
