/* igemm_finish.c - epilogues of 8-bit products with NEON: the source for AVX2 on pairs of
 * vectors. */
#include "backend/cpu/vec8_int.h"

#include "backend/cpu/avx2/igemm_finish.c"
