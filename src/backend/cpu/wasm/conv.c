/* conv.c - kernel "conv" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_avx2 hg_kernels_conv_wasm
#include "backend/cpu/avx2/conv.c"
