/* matmul_bits.c - kernel "matmul.bits" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_bits_quantize_avx2 hg_bits_quantize_wasm
#define hg_matmul_bits_scratch_avx2 hg_matmul_bits_scratch_wasm
#define hg_matmul_bits_run_avx2 hg_matmul_bits_run_wasm
#define hg_kernels_matmul_bits_avx2 hg_kernels_matmul_bits_wasm
#include "backend/cpu/avx2/matmul_bits.c"
