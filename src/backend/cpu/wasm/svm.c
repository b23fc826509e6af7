/* svm.c - kernels "svm.near.t" and "svm.sum" on WebAssembly: the source for AVX2. */
#include "backend/cpu/vec8.h"

#define hg_kernels_svm_avx2 hg_kernels_svm_wasm
#include "backend/cpu/avx2/svm.c"
