/* reduce.c - kernel "reduce" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_reduce_avx2 hg_kernels_reduce_neon
#include "backend/cpu/avx2/reduce.c"
