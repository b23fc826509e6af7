/* softmax.c - kernel "softmax" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_softmax_avx2 hg_kernels_softmax_neon
#include "backend/cpu/avx2/softmax.c"
