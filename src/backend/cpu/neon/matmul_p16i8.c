/* matmul_p16i8.c - kernel "matmul.p16i8" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_matmul_p16i8_avx2 hg_kernels_matmul_p16i8_neon
#include "backend/cpu/avx2/matmul_p16i8.c"
