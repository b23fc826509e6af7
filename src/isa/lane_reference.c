/* lane_reference.c - the reference interpreter of lane code, which defines what every backend
 * computes. It keeps NaN and signed zeros as IEEE 754 does; which NaN comes out is open. */
#include "isa/lane.h"

#define LANE_ALL
#define LANE_RUN hg_lane_run
#define LANE_PICKS 0
#define LANE_READ hg_lane_read
#define LANE_WRITE hg_lane_write
#include "isa/lane_run.inc"

hg_lane_fn hg_lane_reference_fn(uint32_t op, uint32_t type, uint32_t from)
{
    return op == HG_LANE_CAST ? lane_cast_of(type, from) : lane_loop_of(op, type);
}

/* Values have 4 bytes unless some operation wants 8; narrowing takes room for both sides. Of few
 * registers there is room for more elements. A group more: lane_spread. */
hg_lane_slot hg_lane_slot_of(const hg_lane_code *code)
{
    const int64_t times = code->n_reg <= 2 ? 4 : code->n_reg <= 5 ? 2 : 1;
    hg_lane_slot slot = {.elements = HG_LANE_TILE * times, .bytes = 4};
    for (uint32_t i = 0; i < code->n_op; i++) {
        const hg_lane_op *op = &code->op[i];
        if (hg_lane_width(op->type) > 4 || op->op == HG_LANE_NARROW ||
            (op->op == HG_LANE_CAST && hg_lane_width(op->index) > 4))
            slot.bytes = 8;
    }
    if (slot.bytes == 8) slot.elements = hg_max(HG_LANE_TILE, slot.elements / 2);
    slot.bytes = slot.elements * slot.bytes + HG_ALIGN;
    return slot;
}

size_t hg_lane_scratch(const hg_lane_code *code)
{
    return hg_align_up(sizeof(lane_state), HG_ALIGN) +
           ((size_t)code->n_reg + 1) * (size_t)hg_lane_slot_of(code).bytes;
}
