/* conv_nhwc.c - kernel "conv.nhwc" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_nhwc_avx2 hg_kernels_conv_nhwc_neon
#include "backend/cpu/avx2/conv_nhwc.c"
