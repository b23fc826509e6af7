/* conv_nhwc_i8.c - kernel "conv.nhwc.i8" with the dot products of NEON. */
#include "backend/cpu/dotprod/igemm.h"

#define hg_kernels_conv_nhwc_i8_avx2 hg_kernels_conv_nhwc_i8_dotprod
#include "backend/cpu/avx2/conv_nhwc_i8.c"
