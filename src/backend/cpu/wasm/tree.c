/* tree.c - kernel "tree" on WebAssembly: the source for AVX2. */
#include "backend/cpu/vec8.h"

#define hg_kernels_tree_avx2 hg_kernels_tree_wasm
#include "backend/cpu/avx2/tree.c"
