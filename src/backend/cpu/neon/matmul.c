/* matmul.c - kernel "matmul" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_matmul_avx2 hg_kernels_matmul_neon
#include "backend/cpu/avx2/matmul.c"
