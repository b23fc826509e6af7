/* matmul_nbits.h - matmul.nbits for AVX2, for what other instruction sets leave to it. */
#ifndef HG_BACKEND_CPU_AVX2_MATMUL_NBITS_H
#define HG_BACKEND_CPU_AVX2_MATMUL_NBITS_H

#include "kernel/matmul_nbits.h"

int64_t hg_matmul_nbits_units_avx2(const hg_args *a);
size_t hg_matmul_nbits_scratch_avx2(const hg_args *a);
void hg_matmul_nbits_run_avx2(const hg_args *a, hg_range r);
/* One row and weights of 4 or 8 bits with zero points that are codes too. */
bool hg_matmul_nbits_is_row(const hg_args *a, const hg_nbits_shape *s);

#endif
