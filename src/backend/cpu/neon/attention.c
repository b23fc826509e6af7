/* attention.c - kernel "attention" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_attention_avx2 hg_kernels_attention_neon
#include "backend/cpu/avx2/attention.c"
