/* conv_gated.c - kernel "conv.gated" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_gated_avx2 hg_kernels_conv_gated_wasm
#include "backend/cpu/avx2/conv_gated.c"
