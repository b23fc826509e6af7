/* matmul_p16i16.c - kernel "matmul.p16i16" on WebAssembly: the source for AVX2 on pairs of vectors.
 */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_matmul_p16i16_avx2 hg_kernels_matmul_p16i16_wasm
#include "backend/cpu/avx2/matmul_p16i16.c"
