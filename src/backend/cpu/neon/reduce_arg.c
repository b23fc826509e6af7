/* reduce_arg.c - kernel "reduce.arg" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_reduce_arg_avx2 hg_kernels_reduce_arg_neon
#include "backend/cpu/avx2/reduce_arg.c"
