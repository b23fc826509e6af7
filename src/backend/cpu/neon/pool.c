/* pool.c - kernel "pool" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_pool_avx2 hg_kernels_pool_neon
#include "backend/cpu/avx2/pool.c"
