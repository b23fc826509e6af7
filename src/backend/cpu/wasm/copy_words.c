/* copy_words.c - kernel "copy.words" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_copy_words_avx2 hg_kernels_copy_words_wasm
#include "backend/cpu/avx2/copy_words.c"
