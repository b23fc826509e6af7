/* sequencelength.c - SequenceLength: the number of items, which is a dimension. */
#include "op/op_sequence.h"

static holo_status sequencelength_infer(hg_infer *n)
{
    const hg_type *item;
    HG_TRY(hg_sequence_item(n, HOLO_SEQUENCE, &item));
    n->out[0] = (hg_type){.dtype = HOLO_I64};
    return HOLO_OK;
}

static holo_status sequencelength_lower(hg_build *b)
{
    return hg_sequence_replace_by_dim(b, hg_build_type(b, hg_build_in(b, 0))->dim[0], HOLO_I64);
}

const hg_op hg_op_sequencelength = {
    .name = "SequenceLength",
    .brief = "the number of items of a sequence",
    .since = 11,
    .in = {1, 1},
    .out = {1, 1},
    .infer = sequencelength_infer,
    .lower = sequencelength_lower,
};
