/* matmul_bits.h - what matmul.bits for wider registers takes from the one for AVX2. */
#ifndef HG_BACKEND_CPU_AVX2_MATMUL_BITS_H
#define HG_BACKEND_CPU_AVX2_MATMUL_BITS_H

#include "kernel/matmul_bits.h"

void hg_bits_quantize_avx2(const hg_bits_shape *s, const float *x, hg_bits_row *row);
size_t hg_matmul_bits_scratch_avx2(const hg_args *a);
void hg_matmul_bits_run_avx2(const hg_args *a, hg_range r);

#endif
