/* lane.c - kernel "lane" with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_lane_avx2 hg_kernels_lane_neon
#include "backend/cpu/avx2/lane.c"
