/* offsets.h - lifetimes and sizes to offsets in one slab; used by the planner for reports and by
 * the runtime for every new set of sizes. */
#ifndef HG_ISA_OFFSETS_H
#define HG_ISA_OFFSETS_H

#include "base/base.h"

typedef struct hg_span {
    uint32_t first, last; /* steps, both included */
    size_t bytes;         /* 0: needs no place */
    size_t offset;        /* result, a multiple of HG_ALIGN */
} hg_span;

/* Numbers of spans, each at most once. */
typedef struct hg_span_order {
    const uint32_t *id;
    uint32_t n;
} hg_span_order;

/* Spans from the lowest up, each at most once, and what they lie on. Whoever wrote it may be wrong.
 */
typedef struct hg_span_place {
    uint32_t id;
    uint32_t below; /* number of a span that came before, plus 1; 0: the beginning of the slab */
} hg_span_place;

typedef struct hg_span_stack {
    const hg_span_place *place;
    uint32_t n; /* 0: none is known */
} hg_span_stack;

/* Assigns offsets so that spans that live at the same time do not overlap; none lives beyond step
 * n_steps. Bound and peak are those of hg_offsets_bound. A stack that is advised is taken when it
 * serves. Otherwise quicker ways come first, then the stack's order, then some others, while the
 * slab is more than a twentieth above the bound. Fastest for spans in order of their first step.
 * `room` has HG_OFFSETS_ROOM entries. Returns the slab's size, or SIZE_MAX when it cannot be
 * represented. */
size_t hg_offsets_assign(hg_span *span, uint32_t n, uint32_t n_steps, size_t bound, uint32_t peak,
                         hg_span_stack advised, uint32_t *room);
/* Places each span on the one below it. Returns the slab's size, or SIZE_MAX when spans are not in
 * order of their first step, two that live at the same time overlap, or one is missing. */
size_t hg_offsets_stack(hg_span *span, uint32_t n, hg_span_stack stack, uint32_t *room);
/* The other way round: what the spans, whose offsets are assigned, lie on. `place` has room for n;
 * returns how many need a place, or 0 when one lies on none. */
uint32_t hg_offsets_unstack(const hg_span *span, uint32_t n, hg_span_place *place);
/* Places spans in this order, each as low as it can be. Returns the slab's size, or SIZE_MAX when
 * it cannot be represented or the order does not name each span that needs a place once. */
size_t hg_offsets_follow(hg_span *span, uint32_t n, uint32_t n_steps, hg_span_order order,
                         uint32_t *room);
/* All side by side can be represented. */
bool hg_offsets_can_add(const hg_span *span, uint32_t n);
#define HG_OFFSETS_ROOM(n, n_steps) ((size_t)5 * (n) + (n_steps) + 1)
/* The largest sum of bytes live at one step, and that step: no assignment can be smaller. */
size_t hg_offsets_bound(const hg_span *span, uint32_t n, uint32_t n_steps, size_t *per_step,
                        uint32_t *peak);

#endif
