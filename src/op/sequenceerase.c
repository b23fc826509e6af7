/* sequenceerase.c - SequenceErase: the sequence without one of its items. */
#include "op/op_sequence.h"

static holo_status sequenceerase_infer(hg_infer *n)
{
    const hg_type *item;
    HG_TRY(hg_sequence_item(n, HOLO_SEQUENCE, &item));
    HG_TRY(hg_sequence_position(n, 1));
    HG_TRY(hg_infer_container(n, 0, HOLO_SEQUENCE, item));
    n->out[0].dim[0] = hg_dim_sub(n->dims, n->in[0]->dim[0], hg_dim_const(n->dims, 1));
    return HOLO_OK;
}

const hg_op hg_op_sequenceerase = {
    .name = "SequenceErase",
    .brief = "the sequence without one of its items",
    .since = 11,
    .in = {1, 2},
    .out = {1, 1},
    .infer = sequenceerase_infer,
    .kernel = "sequence.erase",
};
