/* conv_gated.c - kernel "conv.gated" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_gated_avx2 hg_kernels_conv_gated_neon
#include "backend/cpu/avx2/conv_gated.c"
