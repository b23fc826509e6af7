/* reduce_order.c - kernel "reduce.order" on WebAssembly: the source for AVX2 on pairs of vectors.
 */
#include "backend/cpu/vec8.h"

#define hg_kernels_reduce_order_avx2 hg_kernels_reduce_order_wasm
#include "backend/cpu/avx2/reduce_order.c"
