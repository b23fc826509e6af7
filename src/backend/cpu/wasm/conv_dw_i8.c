/* conv_dw_i8.c - kernel "conv.dw.i8" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_conv_dw_i8_scratch_avx2 hg_conv_dw_i8_scratch_wasm
#define hg_conv_dw_i8_run_avx2 hg_conv_dw_i8_run_wasm
#define hg_kernels_conv_dw_i8_avx2 hg_kernels_conv_dw_i8_wasm
#include "backend/cpu/avx2/conv_dw_i8.c"
