/* conv_dw_i8.c - kernel "conv.dw.i8" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_conv_dw_i8_scratch_avx2 hg_conv_dw_i8_scratch_neon
#define hg_conv_dw_i8_run_avx2 hg_conv_dw_i8_run_neon
#define hg_kernels_conv_dw_i8_avx2 hg_kernels_conv_dw_i8_neon
#include "backend/cpu/avx2/conv_dw_i8.c"
