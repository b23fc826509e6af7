/* rotary.c - kernel "rotary" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_rotary_avx2 hg_kernels_rotary_neon
#include "backend/cpu/avx2/rotary.c"
