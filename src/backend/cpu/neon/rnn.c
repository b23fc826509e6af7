/* rnn.c - kernels "gru" and "lstm" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_rnn_avx2 hg_kernels_rnn_neon
#include "backend/cpu/avx2/rnn.c"
