/* lane.c - kernel "lane" on WebAssembly: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_lane_avx2 hg_kernels_lane_wasm
#include "backend/cpu/avx2/lane.c"
