/* conv_pwdw.c - kernel "conv.pwdw" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_pwdw_avx2 hg_kernels_conv_pwdw_neon
#include "backend/cpu/avx2/conv_pwdw.c"
