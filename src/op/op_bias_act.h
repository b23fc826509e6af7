/* op_bias_act.h - an epilogue that reads nothing as large as its result, as numbers. */
#ifndef HG_OP_OP_BIAS_ACT_H
#define HG_OP_OP_BIAS_ACT_H

#include "op/op.h"

enum {
    HG_BIAS_ACT_COLUMNS = 4, /* bias, slope, gain, lift of hg_epilogue_simple */
    HG_BIAS_ACT_NUMBERS = 8
};

/* Names of the numbers as attributes, in the order of a kernel's parameters. */
typedef struct hg_bias_act_name {
    const char *name;
    double usual;
} hg_bias_act_name;

extern const hg_bias_act_name hg_bias_act_number[HG_BIAS_ACT_NUMBERS];

typedef struct hg_bias_act {
    hg_value_id column[HG_BIAS_ACT_COLUMNS]; /* one value for each channel, or 0 */
    int64_t kind;                            /* hg_epilogue_act of kernel/epilogue.h */
    double number[HG_BIAS_ACT_NUMBERS];
} hg_bias_act;

/* Whether that is all that attribute "code" of a node with `own` inputs of its own does to its
 * channels-last f32 result; true without code. */
bool hg_bias_act_of(const hg_graph *g, const hg_node *n, uint32_t own, hg_bias_act *out);

#endif
