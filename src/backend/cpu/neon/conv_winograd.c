/* conv_winograd.c - kernel "conv.winograd" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_winograd_avx2 hg_kernels_conv_winograd_neon
#include "backend/cpu/avx2/conv_winograd.c"
