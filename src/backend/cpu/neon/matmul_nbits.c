/* matmul_nbits.c - kernel "matmul.nbits" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_matmul_nbits_avx2 hg_kernels_matmul_nbits_neon
#include "backend/cpu/avx2/matmul_nbits.c"
