/* conv_nhwc_i8.c - kernel "conv.nhwc.i8" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_conv_nhwc_i8_avx2 hg_kernels_conv_nhwc_i8_neon
#include "backend/cpu/avx2/conv_nhwc_i8.c"
