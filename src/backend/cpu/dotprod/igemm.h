/* igemm.h - products of codes with the dot products of NEON: names for the sources that are
 * compiled for several instruction sets, whose finish, lane code and lookup are those of neon/. */
#ifndef HG_BACKEND_CPU_DOTPROD_IGEMM_H
#define HG_BACKEND_CPU_DOTPROD_IGEMM_H

#include "backend/cpu/vec8_int.h"

#undef HG_CPU_AVX2
#define HG_CPU_AVX2 (HG_CPU_NEON | HG_CPU_DOTPROD)
#undef hg_igemm_avx2
#define hg_igemm_avx2 hg_igemm_dotprod

#endif
