/* lane_ops.h - the loops of the reference interpreter, for tuned ones that do not have all of their
 * own. */
#ifndef HG_ISA_LANE_OPS_H
#define HG_ISA_LANE_OPS_H

#include "isa/lane.h"

/* The loop of a verified operation; `from` is the type of a CAST's source, 0 for others. */
hg_lane_fn hg_lane_reference_fn(uint32_t op, uint32_t type, uint32_t from);

/* Of one register: elements of a tile, and bytes. */
typedef struct hg_lane_slot {
    int64_t elements, bytes;
} hg_lane_slot;
hg_lane_slot hg_lane_slot_of(const hg_lane_code *code);

/* Operations among which pairs are sought: those of bodies that are not longer. */
enum { HG_LANE_PAIRS = 32 };
/* pair[i] = the loop for operation i and the next one, or the one after that where a load or a
 * constant is between them, which then comes first: where `pick` has one and nothing else reads
 * what is between them, otherwise NULL; of each operation. one[r]: register r is one value; a
 * constant that a pair takes only as an array is not any more. */
void hg_lane_find_pairs(const hg_lane_code *code, hg_lane_pick pick, bool *one, hg_lane_fn *pair);

#endif
