/* offsets.c - outward from the step at which most is alive, in one pass; where that leaves holes,
 * greedy: the largest span first, or the one with most bytes times steps, each at the lowest offset
 * that is free while it lives. Within a few percent of the bound on the models we know; linear but
 * for the sort when spans are short, quadratic in the worst case, with a small constant. */
#include "isa/offsets.h"

#include <string.h>

static bool offsets_before(const hg_span *span, uint32_t a, uint32_t b)
{
    if (span[a].bytes != span[b].bytes) return span[a].bytes > span[b].bytes;
    if (span[a].first != span[b].first) return span[a].first < span[b].first;
    return a < b;
}

/* Bytes times steps: what lasts long stands in the way of most. */
static bool offsets_fuller(const hg_span *span, uint32_t a, uint32_t b)
{
    const double x = (double)span[a].bytes * (span[a].last - span[a].first + 1.0);
    const double y = (double)span[b].bytes * (span[b].last - span[b].first + 1.0);
    if (x != y) return x > y;
    return span[a].first != span[b].first ? span[a].first < span[b].first : a < b;
}

static bool offsets_lower(const hg_span *span, uint32_t a, uint32_t b)
{
    return span[a].offset < span[b].offset;
}

typedef bool offsets_compare(const hg_span *span, uint32_t a, uint32_t b);

/* Merges the sorted halves [0, half) and [half, n) of `from` into `to`. */
static void offsets_merge(const hg_span *span, const uint32_t *from, uint32_t half, uint32_t n,
                          uint32_t *to, offsets_compare *before)
{
    uint32_t a = 0, b = half;
    for (uint32_t i = 0; i < n; i++)
        to[i] = b == n || (a < half && !before(span, from[b], from[a])) ? from[a++] : from[b++];
}

/* Merge sort, from short runs up: no allocation, no recursion, no worst case. `spare` has n
 * entries, too. */
static void offsets_sort(const hg_span *span, uint32_t *order, uint32_t n, uint32_t *spare,
                         offsets_compare *before)
{
    uint32_t *from = order, *to = spare;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            uint32_t length = (uint32_t)hg_min((int64_t)(2 * run), (int64_t)(n - at));
            offsets_merge(span, from + at, (uint32_t)hg_min((int64_t)run, length), length, to + at,
                          before);
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, n * sizeof *order);
}

/* Short spans that begin at step f are chained from head[f], so that one finds those it meets by
 * looking a few steps back. The others are kept sorted by offset. */
typedef struct offsets_places {
    const hg_span *span;
    uint32_t *head, *next; /* span number + 1; 0: the end */
    uint32_t *met, *lasting;
    uint32_t n_met, n_lasting;
} offsets_places;

enum { OFFSETS_SHORT = 16, OFFSETS_FEW = 32, OFFSETS_TRIES = 4, OFFSETS_PAGE = 4096 };

static bool offsets_meets(const hg_span *a, const hg_span *b)
{
    return a->last >= b->first && a->first <= b->last;
}

/* Puts a span at its place among `n` that are sorted by offset. */
static void offsets_insert(const hg_span *span, uint32_t *sorted, uint32_t n, uint32_t id)
{
    for (; n > 0 && span[sorted[n - 1]].offset > span[id].offset; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = id;
}

/* The short ones that live at the same time, in p->met, sorted by offset. */
static void offsets_gather(offsets_places *p, const hg_span *s)
{
    p->n_met = 0;
    for (uint32_t step = s->first < OFFSETS_SHORT ? 0 : s->first - OFFSETS_SHORT; step <= s->last;
         step++)
        for (uint32_t id = p->head[step]; id != 0; id = p->next[id - 1])
            if (offsets_meets(&p->span[id - 1], s)) p->met[p->n_met++] = id - 1;
    if (p->n_met > OFFSETS_FEW)
        offsets_sort(p->span, p->met, p->n_met, p->met + p->n_met, offsets_lower);
    for (uint32_t i = 1; i < p->n_met && p->n_met <= OFFSETS_FEW; i++)
        offsets_insert(p->span, p->met, i, p->met[i]);
}

/* The next span by offset that lives at the same time as `s`, or NULL. */
static const hg_span *offsets_next(const offsets_places *p, const hg_span *s, uint32_t *met,
                                   uint32_t *lasting)
{
    while (*lasting < p->n_lasting && !offsets_meets(&p->span[p->lasting[*lasting]], s))
        ++*lasting;
    const hg_span *a = *met < p->n_met ? &p->span[p->met[*met]] : NULL;
    const hg_span *b = *lasting < p->n_lasting ? &p->span[p->lasting[*lasting]] : NULL;
    if (b == NULL || (a != NULL && a->offset <= b->offset)) {
        ++*met;
        return a;
    }
    ++*lasting;
    return b;
}

/* Lowest offset where `s` fits between the spans it meets. */
static size_t offsets_find(const offsets_places *p, const hg_span *s)
{
    size_t at = 0;
    uint32_t met = 0, lasting = 0;
    for (const hg_span *other; (other = offsets_next(p, s, &met, &lasting)) != NULL;) {
        if (other->offset >= at && other->offset - at >= s->bytes) return at;
        size_t end = hg_align_up(other->offset + other->bytes, HG_ALIGN);
        if (end > at) at = end;
    }
    return at;
}

static void offsets_place(offsets_places *p, hg_span *s, uint32_t id)
{
    offsets_gather(p, s);
    s->offset = offsets_find(p, s);
    if (s->last - s->first > OFFSETS_SHORT) {
        offsets_insert(p->span, p->lasting, p->n_lasting++, id);
        return;
    }
    p->next[id] = p->head[s->first];
    p->head[s->first] = id + 1;
}

/* Places all in this order. Returns the slab's size; *top: the entry that ends highest. */
static size_t offsets_place_all(offsets_places *p, hg_span *span, const uint32_t *order, uint32_t n,
                                uint32_t n_steps, uint32_t *top)
{
    size_t slab = 0;
    *top = 0;
    p->n_lasting = 0;
    memset(p->head, 0, ((size_t)n_steps + 1) * sizeof *p->head);
    for (uint32_t i = 0; i < n; i++) {
        hg_span *s = &span[order[i]];
        offsets_place(p, s, order[i]);
        if (s->offset + s->bytes <= slab) continue;
        slab = s->offset + s->bytes;
        *top = i;
    }
    return slab;
}

/* The entry that ended highest is placed first the next time. */
static void offsets_prefer(uint32_t *order, uint32_t top)
{
    const uint32_t id = order[top];
    memmove(order + 1, order, top * sizeof *order);
    order[0] = id;
}

/* Order number i: by size, by bytes times steps, then what ended highest before goes first. */
static size_t offsets_try(offsets_places *p, hg_span *span, uint32_t *order, uint32_t n,
                          uint32_t n_steps, uint32_t i, uint32_t *top)
{
    if (i <= 1)
        offsets_sort(span, order, n, p->next, i == 0 ? offsets_before : offsets_fuller);
    else
        offsets_prefer(order, *top);
    return offsets_place_all(p, span, order, n, n_steps, top);
}

/* In chains of buffers of mixed sizes one order or another leaves holes (mobilenet_v2: a quarter,
 * piper-vits: a seventh); more are tried until what is left to gain is not worth the search. */
static size_t offsets_improve(offsets_places *p, hg_span *span, uint32_t *order, uint32_t n,
                              uint32_t n_steps, size_t enough)
{
    uint32_t top = 0, best_try = 0;
    size_t slab = 0, best = SIZE_MAX;
    for (uint32_t i = 0; i == 0 || (i <= OFFSETS_TRIES && best > enough); i++) {
        slab = offsets_try(p, span, order, n, n_steps, i, &top);
        if (slab >= best) continue;
        best = slab;
        best_try = i;
    }
    if (slab == best) return best;
    for (uint32_t i = best_try == 0 ? 0 : 1; i <= best_try; i++) /* the way to the best once more */
        (void)offsets_try(p, span, order, n, n_steps, i, &top);
    return best;
}

/* ---- outward --------------------------------------------------------------------------------- */

/* What is alive beside the span that is placed, sorted by offset. */
typedef struct offsets_sweep {
    hg_span *span;
    uint32_t *alive, n_alive;
    bool is_forward;
    size_t slab;
} offsets_sweep;

/* Who has died, or is not yet born on the way back, is left out from now on. */
static void offsets_sweep_place(offsets_sweep *w, uint32_t id)
{
    hg_span *s = &w->span[id];
    size_t at = 0;
    uint32_t kept = 0, place = UINT32_MAX;
    for (uint32_t i = 0; i < w->n_alive; i++) {
        const hg_span *o = &w->span[w->alive[i]];
        if (w->is_forward ? o->last < s->first : o->first > s->last) continue;
        if (place == UINT32_MAX && o->offset >= at && o->offset - at >= s->bytes) place = kept;
        if (place == UINT32_MAX) at = hg_align_up(o->offset + o->bytes, HG_ALIGN);
        w->alive[kept++] = w->alive[i];
    }
    if (place == UINT32_MAX) place = kept;
    memmove(w->alive + place + 1, w->alive + place, (kept - place) * sizeof *w->alive);
    w->alive[place] = id;
    w->n_alive = kept + 1;
    s->offset = at;
    if (at + s->bytes > w->slab) w->slab = at + s->bytes;
}

/* What lives at the peak lies side by side. What begins later, in order, finds room where one of
 * these has ended; what ends earlier, in reverse, where one has not begun. SIZE_MAX when the spans
 * are not sorted by their first step. */
static size_t offsets_outward(offsets_places *p, hg_span *span, uint32_t n, uint32_t peak)
{
    offsets_sweep w = {.span = span, .alive = p->met, .is_forward = true};
    uint32_t before = 0, n_peak = 0;
    memset(p->head, 0, ((size_t)peak + 1) * sizeof *p->head);
    for (uint32_t i = 0; i < n; i++) {
        hg_span *s = &span[i];
        if (s->first < before) return SIZE_MAX;
        before = s->first;
        if (s->bytes == 0) continue;
        if (s->first > peak) {
            offsets_sweep_place(&w, i);
        } else if (s->last < peak) {
            p->next[i] = p->head[s->last];
            p->head[s->last] = i + 1;
        } else {
            s->offset = hg_align_up(w.slab, HG_ALIGN);
            w.slab = s->offset + s->bytes;
            p->lasting[n_peak] = p->met[n_peak] = i;
            w.n_alive = ++n_peak;
        }
    }
    w = (offsets_sweep){.span = span, .alive = p->lasting, .n_alive = n_peak, .slab = w.slab};
    for (uint32_t step = peak; step-- > 0;)
        for (uint32_t id = p->head[step]; id != 0; id = p->next[id - 1])
            offsets_sweep_place(&w, id - 1);
    return w.slab;
}

static offsets_places offsets_places_in(const hg_span *span, uint32_t n, uint32_t *room)
{
    return (offsets_places){.span = span,
                            .next = room + n,
                            .met = room + (size_t)2 * n,
                            .lasting = room + (size_t)4 * n,
                            .head = room + (size_t)5 * n};
}

bool hg_offsets_can_add(const hg_span *span, uint32_t n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (span[i].bytes > SIZE_MAX / 4 || total > SIZE_MAX / 4) return false;
        total += span[i].bytes;
    }
    return true;
}

size_t hg_offsets_follow(hg_span *span, uint32_t n, uint32_t n_steps, hg_span_order order,
                         uint32_t *room)
{
    uint32_t wanted = 0, placed = 0, top;
    if (!hg_offsets_can_add(span, n)) return SIZE_MAX;
    for (uint32_t i = 0; i < n; i++) {
        wanted += span[i].bytes != 0;
        span[i].offset = SIZE_MAX;
    }
    for (uint32_t i = 0; i < order.n; i++) {
        const uint32_t id = order.id[i];
        if (id >= n || span[id].offset == 0) return SIZE_MAX;
        span[id].offset = 0;
        if (span[id].bytes != 0) room[placed++] = id;
    }
    if (placed != wanted) return SIZE_MAX;
    for (uint32_t i = 0; i < n; i++) /* what needs no place, named or not, is at the beginning */
        if (span[i].bytes == 0) span[i].offset = 0;
    offsets_places p = offsets_places_in(span, n, room);
    return hg_align_up(offsets_place_all(&p, span, room, wanted, n_steps, &top), HG_ALIGN);
}

/* From the lowest up, each span comes to lie as low as in the stack, or lower. */
static size_t offsets_follow_stack(hg_span *span, uint32_t n, uint32_t n_steps, hg_span_stack stack,
                                   uint32_t *room)
{
    if (stack.n > n) return SIZE_MAX;
    for (uint32_t i = 0; i < stack.n; i++)
        room[i] = stack.place[i].id;
    return hg_offsets_follow(span, n, n_steps, (hg_span_order){room, stack.n}, room);
}

static void offsets_begin(hg_span *span, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        span[i].offset = 0;
}

size_t hg_offsets_assign(hg_span *span, uint32_t n, uint32_t n_steps, size_t bound, uint32_t peak,
                         hg_span_stack advised, uint32_t *room)
{
    uint32_t *order = room, wanted = 0;
    offsets_places p = offsets_places_in(span, n, room);
    const size_t small = bound > SIZE_MAX / 2 ? bound : bound + bound / 20;
    const size_t stacked = advised.n == 0 ? SIZE_MAX : hg_offsets_stack(span, n, advised, room);
    if (stacked != SIZE_MAX && stacked <= small) return stacked;
    if (!hg_offsets_can_add(span, n)) return SIZE_MAX;
    offsets_begin(span, n);
    const size_t outward = offsets_outward(&p, span, n, peak);
    if (outward != SIZE_MAX && outward <= small) return hg_align_up(outward, HG_ALIGN);
    if (advised.n != 0) {
        const size_t slab = offsets_follow_stack(span, n, n_steps, advised, room);
        if (slab != SIZE_MAX && slab <= small) return slab;
        offsets_begin(span, n);
    }
    for (uint32_t i = 0; i < n; i++)
        if (span[i].bytes != 0) order[wanted++] = i;
    /* Placing eight spans once more takes as long as the system takes for a page. */
    const size_t worth = (size_t)wanted * (OFFSETS_PAGE / 8);
    const size_t enough = small > SIZE_MAX / 2 || small - bound > worth ? small : bound + worth;
    const size_t greedy = offsets_improve(&p, span, order, wanted, n_steps, enough);
    return hg_align_up(outward < greedy ? offsets_outward(&p, span, n, peak) : greedy, HG_ALIGN);
}

size_t hg_offsets_bound(const hg_span *span, uint32_t n, uint32_t n_steps, size_t *per_step,
                        uint32_t *peak)
{
    for (uint32_t i = 0; i <= n_steps; i++)
        per_step[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = hg_align_up(span[i].bytes, HG_ALIGN);
        per_step[span[i].first] += bytes;
        if (span[i].last < n_steps) per_step[span[i].last + 1] -= bytes;
    }
    size_t live = 0, most = 0;
    *peak = 0;
    for (uint32_t i = 0; i <= n_steps; i++) {
        live += per_step[i];
        if (live <= most) continue;
        most = live;
        *peak = i;
    }
    return most;
}
