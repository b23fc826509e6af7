/* copy_words.c - kernel "copy.words" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_copy_words_avx2 hg_kernels_copy_words_neon
#include "backend/cpu/avx2/copy_words.c"
