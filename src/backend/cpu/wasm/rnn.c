/* rnn.c - kernels "gru" and "lstm" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_rnn_avx2 hg_kernels_rnn_wasm
#include "backend/cpu/avx2/rnn.c"
