/* matmul_p16i8.c - kernel "matmul.p16i8" with the dot products of NEON. */
#include "backend/cpu/dotprod/igemm.h"

#define hg_kernels_matmul_p16i8_avx2 hg_kernels_matmul_p16i8_dotprod
#include "backend/cpu/avx2/matmul_p16i8.c"
