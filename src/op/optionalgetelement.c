/* optionalgetelement.c - OptionalGetElement: the value of an optional. */
#include "op/op_sequence.h"

static holo_status optionalgetelement_infer(hg_infer *n)
{
    const hg_type *item;
    if (n->in[0]->dtype != HOLO_OPTIONAL) {
        n->out[0] = *n->in[0];
        return HOLO_OK;
    }
    HG_TRY(hg_sequence_item(n, HOLO_OPTIONAL, &item));
    hg_sequence_give_item(n, item);
    return HOLO_OK;
}

/* Anything else is its own value. */
static holo_status optionalgetelement_emit(hg_emit *e)
{
    return hg_emit_type(e, 0)->dtype == HOLO_OPTIONAL ? HOLO_OK : hg_emit_view(e);
}

const hg_op hg_op_optionalgetelement = {
    .name = "OptionalGetElement",
    .brief = "the value of an optional",
    .since = 15,
    .version = 18,
    .in = {1, 1},
    .out = {1, 1},
    .infer = optionalgetelement_infer,
    .kernel = "sequence.at",
    .emit = optionalgetelement_emit,
};
