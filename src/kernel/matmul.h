/* matmul.h - what every variant of "matmul" shares: sizes, batch broadcasting, check, cost. */
#ifndef HG_KERNEL_MATMUL_H
#define HG_KERNEL_MATMUL_H

#include "isa/kernel.h"

typedef struct hg_matmul_shape {
    int64_t batch, m, n, k;
    /* element strides of A over (m, k) and of B over (k, n) */
    int64_t a_row, a_k, b_k, b_col;
} hg_matmul_shape;

/* Checked arguments only. */
hg_matmul_shape hg_matmul_shape_of(const hg_args *a);
/* Elements before the matrix of operand t that batch index `batch` of the output uses. */
int64_t hg_matmul_batch_offset(const holo_tensor *t, const holo_tensor *out, int64_t batch);
holo_status hg_matmul_check(const hg_args *a, holo_error *e);
void hg_matmul_cost(const hg_args *a, hg_cost *cost);

#endif
