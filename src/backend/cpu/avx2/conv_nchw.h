/* conv_nchw.h - an output row of conv.nchw, where tiles of AVX-512 compute it. */
#ifndef HG_BACKEND_CPU_AVX2_CONV_NCHW_H
#define HG_BACKEND_CPU_AVX2_CONV_NCHW_H

#include "backend/cpu/avx2/gemm.h"

/* Pixels a tile may read behind the last, at most. */
enum { HG_CONV_NCHW_TILE = 16 };

/* `rows` pixels of the step, each `ahead` floats behind the one before: row[t] points to the first
 * of tap t. Its sums start with one row for all, and are always limited to [low, high]; there is
 * nothing else behind them. */
void hg_conv_nchw_row_avx512(const hg_gemm_step *s, int64_t ahead, int64_t rows);

#endif
