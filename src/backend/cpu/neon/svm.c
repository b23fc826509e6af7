/* svm.c - kernels "svm.near.t" and "svm.sum" with NEON: the source for AVX2. */
#include "backend/cpu/vec8.h"

#define hg_kernels_svm_avx2 hg_kernels_svm_neon
#include "backend/cpu/avx2/svm.c"
