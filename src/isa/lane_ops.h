/* lane_ops.h - the loops of the reference interpreter, for tuned ones that do not have all of their
 * own. */
#ifndef HG_ISA_LANE_OPS_H
#define HG_ISA_LANE_OPS_H

#include "isa/lane.h"

/* The loop of a verified operation; `from` is the type of a CAST's source, 0 for others. */
hg_lane_fn hg_lane_reference_fn(uint32_t op, uint32_t type, uint32_t from);

#endif
