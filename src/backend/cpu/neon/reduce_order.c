/* reduce_order.c - kernel "reduce.order" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_reduce_order_avx2 hg_kernels_reduce_order_neon
#include "backend/cpu/avx2/reduce_order.c"
