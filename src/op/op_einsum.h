/* op_einsum.h - the equation of Einsum, read. */
#ifndef HG_OP_OP_EINSUM_H
#define HG_OP_OP_EINSUM_H

#include "op/op.h"

/* Labels: letters are their character; the dimensions of an ellipsis, right-aligned, are 1, 2
 * ... 8. */
typedef struct hg_einsum_term {
    int32_t rank;
    uint8_t label[HG_MAX_RANK];
} hg_einsum_term;

enum { HG_EINSUM_MAX_TERMS = 64 };

typedef struct hg_einsum {
    uint32_t n_in;
    hg_einsum_term in[HG_EINSUM_MAX_TERMS], out;
    hg_dim size[128]; /* of a label; 0 when it does not occur */
} hg_einsum;

/* Reads attribute "equation" for operands of the given types. */
HG_MUST_CHECK holo_status hg_einsum_read(const hg_infer *n, const hg_type *const *in, uint32_t n_in,
                                         hg_einsum *e);
/* Place of a label in a term, or -1. */
int32_t hg_einsum_find(const hg_einsum_term *t, uint8_t label);

#endif
