/* reduce_arg.c - kernel "reduce.arg" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_reduce_arg_avx2 hg_kernels_reduce_arg_wasm
#include "backend/cpu/avx2/reduce_arg.c"
