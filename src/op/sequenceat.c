/* sequenceat.c - SequenceAt: an item of a sequence. */
#include "op/op_sequence.h"

static holo_status sequenceat_infer(hg_infer *n)
{
    const hg_type *item;
    HG_TRY(hg_sequence_item(n, HOLO_SEQUENCE, &item));
    HG_TRY(hg_sequence_position(n, 1));
    hg_sequence_give_item(n, item);
    return HOLO_OK;
}

const hg_op hg_op_sequenceat = {
    .name = "SequenceAt",
    .brief = "an item of a sequence",
    .since = 11,
    .in = {2, 2},
    .out = {1, 1},
    .infer = sequenceat_infer,
    .kernel = "sequence.at",
};
