/* groupnorm.c - kernel "groupnorm" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_groupnorm_avx2 hg_kernels_groupnorm_wasm
#include "backend/cpu/avx2/groupnorm.c"
