/* conv_dw_band.c - rows of depthwise convolutions with NEON: the source for AVX2 on pairs of
 * vectors. */
#include "backend/cpu/vec8.h"

#include "backend/cpu/avx2/conv_dw_band.c"
