/* op_bits.h - codes of matrices in the panels that matmul.bits reads. */
#ifndef HG_OP_OP_BITS_H
#define HG_OP_OP_BITS_H

#include "kernel/matmul_bits.h"
#include "op/op.h"

/* Codes [n][k] of one byte each, and scales [n][groups]: in the layout of kernel/matmul_bits.h.
 * Both results belong to the arena. */
HG_MUST_CHECK holo_status hg_bits_pack(hg_ctx *ctx, hg_bits_kind kind, const uint8_t *codes,
                                       const float *scales, int64_t n, int64_t k, int64_t group,
                                       uint8_t **packed, float **packed_scales);

#endif
