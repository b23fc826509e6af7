/* rotary.c - kernel "rotary" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_rotary_avx2 hg_kernels_rotary_wasm
#include "backend/cpu/avx2/rotary.c"
