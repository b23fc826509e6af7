/* lane.h - the lane interpreter epilogues run with. lane.c replaces the macro by a declaration:
 *     void hg_lane_run_avx2(const hg_lane_code *code, const hg_lane_tile *tile);  */
#ifndef HG_BACKEND_CPU_AVX2_LANE_H
#define HG_BACKEND_CPU_AVX2_LANE_H

#include "isa/lane.h"

#define hg_lane_run_avx2 hg_lane_run

#endif
