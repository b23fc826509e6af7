/* dropoutmask.c - holo:DropoutMask: which elements a dropout keeps. */
#include "op/op.h"

/* Inputs: data (for its shape), ratio, training mode. */
static holo_status dropoutmask_infer(hg_infer *n)
{
    if (hg_infer_has(n, 1)) HG_TRY(hg_infer_types(n, 1, HG_TYPES_FLOAT));
    HG_TRY(hg_infer_types(n, 2, HG_TYPES_BOOL));
    return hg_infer_same_shape_bool(n);
}

static holo_status dropoutmask_emit(hg_emit *e)
{
    e->in[0] = e->in[1];
    e->in[1] = e->in[2];
    e->n_in = 2;
    return hg_emit_int(e, hg_node_int(e->node, "seed", 0));
}

const hg_op hg_op_internal_dropoutmask = {
    .name = "DropoutMask",
    .domain = "holo",
    .brief = "which elements a dropout keeps",
    .since = 1,
    .in = {3, 3},
    .out = {1, 1},
    .flags = HG_OP_INTERNAL | HG_OP_EFFECT, /* another mask at each turn of a loop */
    .infer = dropoutmask_infer,
    .kernel = "dropout.mask",
    .emit = dropoutmask_emit,
};
