/* lane.h - the lane interpreter compiled for AVX2, for kernels with an epilogue. */
#ifndef HG_BACKEND_CPU_AVX2_LANE_H
#define HG_BACKEND_CPU_AVX2_LANE_H

#include "isa/lane.h"
#include "isa/lane_ops.h"

/* hg_lane_run, hg_lane_read and hg_lane_write with the same bits, sooner. */
void hg_lane_run_avx2(const hg_lane_code *code, const hg_lane_tile *tile);
/* The same where floats become codes; false: the code is another one. */
bool hg_lane_codes_avx2(const hg_lane_code *code, const hg_lane_tile *tile);
/* The same where codes become floats. */
bool hg_lane_floats_avx2(const hg_lane_code *code, const hg_lane_tile *tile);
/* The first that can of those that matter behind another kernel. */
static inline void hg_lane_tile_avx2(const hg_lane_code *code, const hg_lane_tile *tile)
{
#if defined(__AVX2__)
    if (hg_lane_codes_avx2(code, tile)) return;
#endif
    hg_lane_run_avx2(code, tile);
}
/* Behind kernels that may round in another way: with the faster functions. */
void hg_lane_tile_fast_avx2(const hg_lane_code *code, const hg_lane_tile *tile);
/* The fast loop of an operation with AVX-512, or NULL: the bits of the one for AVX2. */
hg_lane_fn hg_lane_common_avx512(uint32_t op, uint32_t type);
void hg_lane_read_avx2(holo_dtype dtype, void *d, const void *data, int64_t first, int64_t stride,
                       int64_t n);
void hg_lane_write_avx2(holo_dtype dtype, bool saturate, void *data, int64_t first, int64_t stride,
                        const void *s, int64_t n);

#endif
