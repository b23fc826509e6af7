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

/* Numbers of spans, each at most once. Whoever wrote it may be wrong. */
typedef struct hg_span_order {
    const uint32_t *id;
    uint32_t n; /* 0: no order is known */
} hg_span_order;

/* Assigns offsets so that spans that live at the same time do not overlap; none lives beyond step
 * n_steps. Bound and peak are those of hg_offsets_bound. An order that is advised is followed when
 * it serves; without one some are tried while the slab is more than a twentieth above the bound.
 * Fastest for spans in order of their first step. `room` has HG_OFFSETS_ROOM entries. Returns the
 * slab's size, or SIZE_MAX when it cannot be represented. */
size_t hg_offsets_assign(hg_span *span, uint32_t n, uint32_t n_steps, size_t bound, uint32_t peak,
                         hg_span_order advised, uint32_t *room);
/* Places spans in this order, each as low as it can be. Returns the slab's size, or SIZE_MAX when
 * it cannot be represented or the order does not name each span that needs a place once. */
size_t hg_offsets_follow(hg_span *span, uint32_t n, uint32_t n_steps, hg_span_order order,
                         uint32_t *room);
#define HG_OFFSETS_ROOM(n, n_steps) ((size_t)5 * (n) + (n_steps) + 1)
/* The largest sum of bytes live at one step, and that step: no assignment can be smaller. */
size_t hg_offsets_bound(const hg_span *span, uint32_t n, uint32_t n_steps, size_t *per_step,
                        uint32_t *peak);

#endif
