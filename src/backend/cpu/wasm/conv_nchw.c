/* conv_nchw.c - kernel "conv.nchw" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_conv_nchw_avx2 hg_kernels_conv_nchw_wasm
#include "backend/cpu/avx2/conv_nchw.c"
