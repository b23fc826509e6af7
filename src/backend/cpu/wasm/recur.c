/* recur.c - kernel "recur.p16" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_recur_avx2 hg_kernels_recur_wasm
#include "backend/cpu/avx2/recur.c"
