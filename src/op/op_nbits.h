/* op_nbits.h - codes of 2, 4 or 8 bits that lie side by side in bytes, the first in the low bits.
 */
#ifndef HG_OP_OP_NBITS_H
#define HG_OP_OP_NBITS_H

#include "kernel/matmul_nbits.h"
#include "op/op.h"

/* `bits` is 2, 4 or 8 and `block` a power of two of at least 16. */
HG_MUST_CHECK holo_status hg_nbits_check(const hg_infer *n, int64_t bits, int64_t block);
/* Bytes u8 [.., n] as codes u8 [.., count]; count is at most n * 8 / bits. */
hg_value_id hg_build_unpacked(hg_build *b, hg_value_id bytes, int64_t bits, hg_dim count);

#endif
