/* conv.c - kernel "conv" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_avx2 hg_kernels_conv_neon
#include "backend/cpu/avx2/conv.c"
