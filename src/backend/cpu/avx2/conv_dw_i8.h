/* conv_dw_i8.h - conv.dw.i8 for AVX2, for kernels that leave some windows to it. */
#ifndef HG_BACKEND_CPU_AVX2_CONV_DW_I8_H
#define HG_BACKEND_CPU_AVX2_CONV_DW_I8_H

#include "kernel/conv_dw_i8.h"

size_t hg_conv_dw_i8_scratch_avx2(const hg_args *a);
void hg_conv_dw_i8_run_avx2(const hg_args *a, hg_range r);

#endif
