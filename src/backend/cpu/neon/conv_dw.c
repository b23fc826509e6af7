/* conv_dw.c - kernel "conv.dw" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_dw_avx2 hg_kernels_conv_dw_neon
#include "backend/cpu/avx2/conv_dw.c"
