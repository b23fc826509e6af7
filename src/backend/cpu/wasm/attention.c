/* attention.c - kernel "attention" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_attention_avx2 hg_kernels_attention_wasm
#include "backend/cpu/avx2/attention.c"
