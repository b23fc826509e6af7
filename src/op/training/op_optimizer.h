/* op_optimizer.h - what the operators that take one step of an optimizer share.
 *
 *   in   rate R, update count T, then the tensors X1 X2 ..., their gradients G1 G2 ..., and one or
 *        two lists of states
 *   out  the new tensors, then the new states */
#ifndef HG_OP_TRAINING_OP_OPTIMIZER_H
#define HG_OP_TRAINING_OP_OPTIMIZER_H

#include "op/op.h"

enum { HG_OPTIMIZER_RATE, HG_OPTIMIZER_COUNT, HG_OPTIMIZER_FIRST };

/* One tensor and what belongs to it; results are filled in. */
typedef struct hg_optimizer_step {
    holo_dtype dtype;
    hg_value_id rate; /* in the type of the tensor */
    hg_value_id x, gradient, state[2];
    hg_value_id new_x, new_state[2];
} hg_optimizer_step;

/* Shape rule: n_state lists of states. */
HG_MUST_CHECK holo_status hg_optimizer_infer(hg_infer *n, uint32_t n_state);
/* Rewrites the node: prepare gives the rate of this step, update the results of one tensor. */
HG_MUST_CHECK holo_status hg_optimizer_lower(hg_build *b, uint32_t n_state,
                                             hg_value_id (*prepare)(hg_build *b, hg_value_id rate,
                                                                    hg_value_id count),
                                             void (*update)(hg_build *b, hg_optimizer_step *s));
/* A number in the type of the tensor. */
hg_value_id hg_optimizer_number(hg_build *b, const hg_optimizer_step *s, double value);
/* norm_coefficient X + G */
hg_value_id hg_optimizer_regularized(hg_build *b, const hg_optimizer_step *s);
/* a x + c y with numbers a and c */
hg_value_id hg_optimizer_blend(hg_build *b, const hg_optimizer_step *s, double a, hg_value_id x,
                               double c, hg_value_id y);

#endif
