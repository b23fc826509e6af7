/* negativeloglikelihoodloss.c - NegativeLogLikelihoodLoss: minus the log-probability of the right
 * class. */
#include "op/op_loss.h"

static holo_status negativeloglikelihoodloss_lower(hg_build *b)
{
    hg_build_replace(b, 0, hg_build_loss(b, hg_build_in(b, 0)));
    return b->status;
}

const hg_op hg_op_negativeloglikelihoodloss = {
    .name = "NegativeLogLikelihoodLoss",
    .brief = "minus the log-probability of the right class",
    .since = 12,
    .version = 22,
    .in = {2, 3},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = hg_loss_infer,
    .lower = negativeloglikelihoodloss_lower,
};
