/* op_activation.h - activations that fused operators name in an attribute. */
#ifndef HG_OP_OP_ACTIVATION_H
#define HG_OP_OP_ACTIVATION_H

#include "op/op.h"

enum { HG_ACTIVATION_NUMBERS = 2 };

typedef struct hg_activation {
    const char *op;                          /* the ONNX operator; NULL: none */
    const char *attr[HG_ACTIVATION_NUMBERS]; /* its numbers, NULL from the last on */
} hg_activation;

/* The activation called `name`, or NULL; an empty name is that of none. */
const hg_activation *hg_activation_find(hg_str name);
/* Applies it with these of its numbers; the others are the operator's own. */
hg_value_id hg_build_activation(hg_build *b, const hg_activation *a, hg_value_id x,
                                const hg_attr *number, uint32_t n_number);

#endif
