/* lane_bytes.c - kernel "lane.bytes" with NEON: the source for AVX2, of which compilers make
 * vectors. */
#include "backend/cpu/vec8.h"

#define hg_kernels_lane_bytes_avx2 hg_kernels_lane_bytes_neon
#include "backend/cpu/avx2/lane_bytes.c"
