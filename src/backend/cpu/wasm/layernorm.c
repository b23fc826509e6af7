/* layernorm.c - kernel "layernorm" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_layernorm_avx2 hg_kernels_layernorm_wasm
#include "backend/cpu/avx2/layernorm.c"
