/* offsets.c - greedy by size: the largest span first, each at the lowest offset that is free while
 * it lives. Within a few percent of the bound on the models we know; quadratic in the worst case,
 * with a small constant (3,000 spans: under 10 ms). */
#include "isa/offsets.h"

static bool offsets_before(const hg_span *span, uint32_t a, uint32_t b)
{
    if (span[a].bytes != span[b].bytes) return span[a].bytes > span[b].bytes;
    if (span[a].first != span[b].first) return span[a].first < span[b].first;
    return a < b;
}

/* Heap sort: no allocation, no recursion, no worst case. */
static void offsets_sift(const hg_span *span, uint32_t *order, uint32_t at, uint32_t n)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && offsets_before(span, order[child], order[child + 1])) child++;
        if (!offsets_before(span, order[at], order[child])) return;
        uint32_t swap = order[at];
        order[at] = order[child];
        order[child] = swap;
    }
}

static void offsets_sort(const hg_span *span, uint32_t *order, uint32_t n)
{
    for (uint32_t i = n / 2; i-- > 0;)
        offsets_sift(span, order, i, n);
    for (uint32_t i = n; i-- > 1;) {
        uint32_t swap = order[0];
        order[0] = order[i];
        order[i] = swap;
        offsets_sift(span, order, 0, i);
    }
}

/* Lowest offset where `s` fits among the `n` placed spans, which are sorted by offset. */
static size_t offsets_find(const hg_span *span, const uint32_t *placed, uint32_t n,
                           const hg_span *s)
{
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const hg_span *p = &span[placed[i]];
        if (p->last < s->first || p->first > s->last) continue;
        if (p->offset >= at && p->offset - at >= s->bytes) return at;
        size_t end = hg_align_up(p->offset + p->bytes, HG_ALIGN);
        if (end > at) at = end;
    }
    return at;
}

size_t hg_offsets_assign(hg_span *span, uint32_t n, uint32_t *order)
{
    uint32_t wanted = 0, placed = 0;
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        span[i].offset = 0;
        if (span[i].bytes > SIZE_MAX / 4 || total > SIZE_MAX / 4) return SIZE_MAX;
        total += span[i].bytes;
        if (span[i].bytes != 0) order[wanted++] = i;
    }
    offsets_sort(span, order, wanted);
    /* order[0, placed) is kept sorted by offset; order[placed, wanted) still by size. */
    size_t slab = 0;
    for (; placed < wanted; placed++) {
        uint32_t id = order[placed];
        span[id].offset = offsets_find(span, order, placed, &span[id]);
        size_t end = span[id].offset + span[id].bytes;
        if (end > slab) slab = end;
        uint32_t k = placed;
        for (; k > 0 && span[order[k - 1]].offset > span[id].offset; k--)
            order[k] = order[k - 1];
        order[k] = id;
    }
    return hg_align_up(slab, HG_ALIGN);
}

size_t hg_offsets_bound(const hg_span *span, uint32_t n, uint32_t n_steps, size_t *per_step)
{
    for (uint32_t i = 0; i <= n_steps; i++)
        per_step[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = hg_align_up(span[i].bytes, HG_ALIGN);
        per_step[span[i].first] += bytes;
        if (span[i].last < n_steps) per_step[span[i].last + 1] -= bytes;
    }
    size_t live = 0, most = 0;
    for (uint32_t i = 0; i <= n_steps; i++) {
        live += per_step[i];
        if (live > most) most = live;
    }
    return most;
}
