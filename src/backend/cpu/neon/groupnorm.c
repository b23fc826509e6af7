/* groupnorm.c - kernel "groupnorm" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_groupnorm_avx2 hg_kernels_groupnorm_neon
#include "backend/cpu/avx2/groupnorm.c"
