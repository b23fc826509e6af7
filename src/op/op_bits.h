/* op_bits.h - codes of matrices in the panels that matmul.bits reads. */
#ifndef HG_OP_OP_BITS_H
#define HG_OP_OP_BITS_H

#include "kernel/matmul_bits.h"
#include "op/op.h"

/* Codes [n][k] of one byte each, scales and offsets [n][groups]: a weight is code x scale + offset.
 */
typedef struct hg_bits_matrix {
    hg_bits_kind kind;
    int64_t n, k, group;
    const uint8_t *codes;
    const float *scales;
    const float *offsets; /* NULL: none */
    const int8_t *book;   /* [16], for HG_BITS_BOOK */
} hg_bits_matrix;

/* x times the matrix, which is packed as kernel/matmul_bits.h says. */
hg_value_id hg_build_matmul_bits(hg_build *b, hg_value_id x, const hg_bits_matrix *w);

#endif
