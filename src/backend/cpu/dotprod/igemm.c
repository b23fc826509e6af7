/* igemm.c - products of 8-bit codes with the dot products of NEON. */
#include "backend/cpu/dotprod/igemm.h"

#define IGEMM_DOT
#include "backend/cpu/neon/igemm.c"
