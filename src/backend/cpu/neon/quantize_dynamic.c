/* quantize_dynamic.c - kernels "quantize.dynamic" and "quantize.extent" with NEON: the source
 * for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8_int.h"

#define hg_kernels_quantize_dynamic_avx2 hg_kernels_quantize_dynamic_neon
#include "backend/cpu/avx2/quantize_dynamic.c"
