/* matmul_p16i16.h - what every variant of "matmul.p16i16" shares. */
#ifndef HG_KERNEL_MATMUL_P16I16_H
#define HG_KERNEL_MATMUL_P16I16_H

#include "kernel/igemm.h"

holo_status hg_matmul_p16i16_check(const hg_args *a, holo_error *e);
/* Checked arguments only. */
hg_igemm hg_matmul_p16i16_of(const hg_args *a);
int64_t hg_matmul_p16i16_units(const hg_args *a);
void hg_matmul_p16i16_cost(const hg_args *a, hg_cost *cost);

#endif
