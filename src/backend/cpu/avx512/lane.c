/* lane.c - functions of float32 for the lane interpreter with AVX-512: those of avx2/lane_common.h
 * sixteen wide. Their chains are long: eight wide, the next vectors begin too late to hide them. */
#include "backend/cpu/avx512/vec16.h"

#include "backend/cpu/avx2/lane.h"
#include "backend/cpu/avx2/lane_common.h"
#undef LANE_FAST

hg_lane_fn hg_lane_common_avx512(uint32_t op, uint32_t type)
{
    return hg_lane_fast_common_of(op, type);
}
