/* layernorm.c - kernel "layernorm" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_layernorm_avx2 hg_kernels_layernorm_neon
#include "backend/cpu/avx2/layernorm.c"
