/* sequenceconstruct.c - SequenceConstruct: a sequence of the inputs. */
#include "op/op_body.h"

static holo_status sequenceconstruct_infer(hg_infer *n)
{
    hg_type item = *n->in[0];
    for (uint32_t i = 1; i < n->n_in; i++) {
        bool possible;
        hg_type joined;
        HG_TRY(hg_type_join(n->ctx, &item, n->in[i], &joined, &possible));
        if (!possible) HG_TRY(hg_infer_same_type(n, 0, i));
        item = joined;
    }
    HG_TRY(hg_infer_container(n, 0, HOLO_SEQUENCE, &item));
    n->out[0].dim[0] = hg_dim_const(n->dims, n->n_in);
    return HOLO_OK;
}

const hg_op hg_op_sequenceconstruct = {
    .name = "SequenceConstruct",
    .brief = "a sequence of the inputs",
    .since = 11,
    .in = {1, -1},
    .out = {1, 1},
    .infer = sequenceconstruct_infer,
    .kernel = "sequence.construct",
};
