/* matmul.c - kernel "matmul" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_matmul_avx2 hg_kernels_matmul_wasm
#include "backend/cpu/avx2/matmul.c"
