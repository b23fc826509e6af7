/* matmul_p16.h - what every variant of "matmul.p16" shares. */
#ifndef HG_KERNEL_MATMUL_P16_H
#define HG_KERNEL_MATMUL_P16_H

#include "isa/kernel.h"

typedef struct hg_matmul_p16_shape {
    int64_t m, n, k, panels; /* m: all leading dims of A */
} hg_matmul_p16_shape;

/* Checked arguments only. */
hg_matmul_p16_shape hg_matmul_p16_shape_of(const hg_args *a);
holo_status hg_matmul_p16_check(const hg_args *a, holo_error *e);
void hg_matmul_p16_cost(const hg_args *a, hg_cost *cost);

#endif
