/* offsets_stack.c - places that are known but for the sizes: each span begins where another one
 * ends.
 *
 * A search for places branches on every pair of lifetimes, which nothing predicts: 17 us for the
 * 150 buffers of yolov8n in a process that has just begun. Here branches go one way as long as the
 * stack is right: 5 us. */
#include "isa/offsets.h"

static size_t stack_end(const hg_span *s)
{
    return hg_align_up(s->offset + s->bytes, HG_ALIGN);
}

/* Offsets by what lies below; false when that is not there, or a span has no place. */
static bool stack_place(hg_span *span, uint32_t n, hg_span_stack stack)
{
    for (uint32_t i = 0; i < n; i++)
        span[i].offset = SIZE_MAX;
    for (uint32_t i = 0; i < stack.n; i++) {
        const uint32_t id = stack.place[i].id, below = stack.place[i].below;
        if (id >= n || span[id].offset != SIZE_MAX || below > n) return false;
        if (below != 0 && span[below - 1].offset == SIZE_MAX) return false;
        span[id].offset = below == 0 ? 0 : stack_end(&span[below - 1]);
    }
    bool is_whole = true;
    for (uint32_t i = 0; i < n; i++) {
        if (span[i].bytes == 0) span[i].offset = 0; /* needs no place, named or not */
        is_whole &= span[i].offset != SIZE_MAX;
    }
    return is_whole;
}

/* Spans in order of their first step, with those that are alive beside each. Whether any two
 * overlap is asked once, at the end. Returns the slab's size. */
static size_t stack_check(const hg_span *span, uint32_t n, uint32_t *alive)
{
    uint32_t n_alive = 0, before = 0;
    size_t slab = 0;
    bool is_bad = false;
    for (uint32_t i = 0; i < n; i++) {
        const hg_span *s = &span[i];
        const size_t end = s->offset + s->bytes;
        uint32_t kept = 0;
        is_bad |= s->first < before;
        before = s->first;
        if (s->bytes == 0) continue;
        for (uint32_t k = 0; k < n_alive; k++) {
            const hg_span *o = &span[alive[k]];
            const bool lives = o->last >= s->first;
            is_bad |= lives & (o->offset < end) & (s->offset < o->offset + o->bytes);
            alive[kept] = alive[k];
            kept += lives;
        }
        alive[kept] = i;
        n_alive = kept + 1;
        slab = end > slab ? end : slab;
    }
    return is_bad ? SIZE_MAX : hg_align_up(slab, HG_ALIGN);
}

size_t hg_offsets_stack(hg_span *span, uint32_t n, hg_span_stack stack, uint32_t *room)
{
    if (!hg_offsets_can_add(span, n) || !stack_place(span, n, stack)) return SIZE_MAX;
    return stack_check(span, n, room);
}

/* By offset; of equal offsets, which never live at the same time, by number. */
static void stack_sort(const hg_span *span, uint32_t n, hg_span_place *place)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t id = place[i].id;
        uint32_t at = i;
        for (; at > 0 && span[place[at - 1].id].offset > span[id].offset; at--)
            place[at].id = place[at - 1].id;
        place[at].id = id;
    }
}

/* The span that ends where `s` begins, of several that which lives longest beside it; its number
 * plus 1, or 0. */
static uint32_t stack_below(const hg_span *span, uint32_t n, const hg_span *s)
{
    uint32_t below = 0;
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const hg_span *o = &span[i];
        if (o->bytes == 0 || stack_end(o) != s->offset) continue;
        const int64_t together = hg_min(o->last, s->last) - hg_max(o->first, s->first) + 1;
        if (together <= most) continue;
        most = together;
        below = i + 1;
    }
    return below;
}

uint32_t hg_offsets_unstack(const hg_span *span, uint32_t n, hg_span_place *place)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < n; i++)
        if (span[i].bytes != 0) place[wanted++].id = i;
    stack_sort(span, wanted, place);
    for (uint32_t i = 0; i < wanted; i++) {
        const hg_span *s = &span[place[i].id];
        place[i].below = s->offset == 0 ? 0 : stack_below(span, n, s);
        if (s->offset != 0 && place[i].below == 0) return 0;
    }
    return wanted;
}
