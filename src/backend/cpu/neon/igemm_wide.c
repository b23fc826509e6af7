/* igemm_wide.c - products of 16-bit numbers with NEON: the source for AVX2 on pairs of vectors.
 */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/igemm_wide.c"
