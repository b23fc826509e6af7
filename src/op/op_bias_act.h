/* op_bias_act.h - an epilogue that is a bias and an activation at most, as numbers. */
#ifndef HG_OP_OP_BIAS_ACT_H
#define HG_OP_OP_BIAS_ACT_H

#include "op/op.h"

typedef struct hg_bias_act {
    hg_value_id bias; /* one value for each channel, or 0 */
    int64_t kind;     /* hg_epilogue_act of kernel/epilogue.h */
    double low, high, gate_scale, gate_shift;
} hg_bias_act;

/* Whether that is all that attribute "code" of a node with `own` inputs of its own does to its
 * channels-last f32 result; true without code. */
bool hg_bias_act_of(const hg_graph *g, const hg_node *n, uint32_t own, hg_bias_act *out);

#endif
