/* matmul_p16i16.c - kernel "matmul.p16i16" with NEON: the source for AVX2 on pairs of vectors.
 */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_matmul_p16i16_avx2 hg_kernels_matmul_p16i16_neon
#include "backend/cpu/avx2/matmul_p16i16.c"
