/* reduce.h - the loops of the kernel "reduce" on AVX2, for the kernels that add some to them. */
#ifndef HG_BACKEND_CPU_AVX2_REDUCE_H
#define HG_BACKEND_CPU_AVX2_REDUCE_H

#include "kernel/reduce.h"

#include "backend/cpu/vec8.h"

extern const hg_reduce_loops hg_reduce_loops_avx2;

#endif
