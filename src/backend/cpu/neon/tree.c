/* tree.c - kernel "tree" with NEON: the source for AVX2. */
#include "backend/cpu/vec8.h"

#define hg_kernels_tree_avx2 hg_kernels_tree_neon
#include "backend/cpu/avx2/tree.c"
