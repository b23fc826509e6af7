/* matmul_i8.h - what the reference and tuned variants of the kernel "matmul.i8" share. */
#ifndef HG_KERNEL_MATMUL_I8_H
#define HG_KERNEL_MATMUL_I8_H

#include "isa/kernel.h"

HG_MUST_CHECK holo_status hg_matmul_i8_check(const hg_args *a, holo_error *e);
/* The rest: checked arguments only. A unit is a row of the output. */
int64_t hg_matmul_i8_units(const hg_args *a);
void hg_matmul_i8_cost(const hg_args *a, hg_cost *cost);
/* Element number of `t`, broadcast to out's batch dims, at the beginning of the matrix of `batch`.
 */
int64_t hg_matmul_i8_offset(const holo_tensor *t, const holo_tensor *out, int64_t batch);
/* Zero point of row i of A (side 0) or column i of B (side 1). */
int32_t hg_matmul_i8_zero(const hg_args *a, uint32_t side, int64_t batch, int64_t i);

#endif
