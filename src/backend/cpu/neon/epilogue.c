/* epilogue.c - simple epilogues with NEON: the source for AVX2 on pairs of vectors. */
#include "backend/cpu/vec8.h"

#include "backend/cpu/avx2/epilogue.c"
