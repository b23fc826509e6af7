/* softmax.c - kernel "softmax" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_softmax_avx2 hg_kernels_softmax_wasm
#include "backend/cpu/avx2/softmax.c"
