/* matmul_p16i8.h - what every variant of "matmul.p16i8" shares. */
#ifndef HG_KERNEL_MATMUL_P16I8_H
#define HG_KERNEL_MATMUL_P16I8_H

#include "kernel/igemm.h"

holo_status hg_matmul_p16i8_check(const hg_args *a, holo_error *e);
/* Checked arguments only. */
hg_igemm hg_matmul_p16i8_of(const hg_args *a);
int64_t hg_matmul_p16i8_units(const hg_args *a);
void hg_matmul_p16i8_cost(const hg_args *a, hg_cost *cost);

#endif
