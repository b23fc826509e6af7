/* op_loss.h - what the losses over classes share. */
#ifndef HG_OP_OP_LOSS_H
#define HG_OP_OP_LOSS_H

#include "op/op.h"

/* Inputs [N, C, d...], classes [N, d...], weights [C]; sets out[0]. */
HG_MUST_CHECK holo_status hg_loss_infer(hg_infer *n);
/* -scores[class] * weight[class], reduced as the node's attributes say. */
hg_value_id hg_build_loss(hg_build *b, hg_value_id scores);

#endif
