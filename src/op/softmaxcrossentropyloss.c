/* softmaxcrossentropyloss.c - SoftmaxCrossEntropyLoss: minus the logarithm of the softmax of the
 * right class. */
#include "op/op_loss.h"

static holo_status softmaxcrossentropyloss_infer(hg_infer *n)
{
    HG_TRY(hg_loss_infer(n));
    if (n->n_out > 1) n->out[1] = *n->in[0];
    return HOLO_OK;
}

static holo_status softmaxcrossentropyloss_lower(hg_build *b)
{
    hg_attr axis = hg_attr_make_int("axis", 1);
    hg_value_id x = hg_build_in(b, 0);
    hg_value_id scores = hg_build_op(b, "LogSoftmax", &x, 1, &axis, 1);
    hg_build_replace(b, 0, hg_build_loss(b, scores));
    if (b->status == HOLO_OK && b->node->n_out > 1) hg_build_replace(b, 1, scores);
    return b->status;
}

const hg_op hg_op_softmaxcrossentropyloss = {
    .name = "SoftmaxCrossEntropyLoss",
    .brief = "minus the logarithm of the softmax of the right class",
    .since = 12,
    .version = 13,
    .in = {2, 3},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT,
    .infer = softmaxcrossentropyloss_infer,
    .lower = softmaxcrossentropyloss_lower,
};
