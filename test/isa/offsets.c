/* offsets.c - random lifetimes and sizes: nothing overlaps, and the places are those of the plain
 * greedy assignment, which looks at every span for every span. */
#include "isa/offsets.h"
#include "fault/fault.h"
#include "test.h"

#include <stdlib.h>

enum { OFFSETS_MOST = 300, OFFSETS_STEPS = 400 };

static bool offsets_live_together(const hg_span *a, const hg_span *b)
{
    return a->bytes != 0 && b->bytes != 0 && a->first <= b->last && b->first <= a->last;
}

/* The largest first, the earliest of them first; each as low as it can be. */
static void offsets_plain(hg_span *span, uint32_t n)
{
    bool placed[OFFSETS_MOST] = {0};
    for (uint32_t round = 0; round < n; round++) {
        uint32_t next = n;
        for (uint32_t i = 0; i < n; i++)
            if (!placed[i] &&
                (next == n || span[i].bytes > span[next].bytes ||
                 (span[i].bytes == span[next].bytes && span[i].first < span[next].first)))
                next = i;
        placed[next] = true;
        span[next].offset = 0;
        for (bool moved = span[next].bytes != 0; moved;) {
            moved = false;
            for (uint32_t i = 0; i < n; i++) {
                const hg_span *o = &span[i];
                if (i == next || !placed[i] || !offsets_live_together(o, &span[next])) continue;
                if (o->offset >= span[next].offset + span[next].bytes ||
                    span[next].offset >= o->offset + o->bytes)
                    continue;
                span[next].offset = hg_align_up(o->offset + o->bytes, HG_ALIGN);
                moved = true;
            }
        }
    }
}

static void offsets_fill(hg_span *span, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i < n; i++) {
        span[i].first = fault_below(state, OFFSETS_STEPS);
        uint32_t life = fault_below(state, 4) == 0 ? OFFSETS_STEPS : 6;
        span[i].last = span[i].first + fault_below(state, life);
        if (span[i].last > OFFSETS_STEPS) span[i].last = OFFSETS_STEPS;
        span[i].bytes = fault_below(state, 9) == 0 ? 0 : (size_t)fault_below(state, 40) * 100;
    }
    if (n < 2) return;
    span[0] = (hg_span){.first = 1, .last = 3, .bytes = 500}; /* not in order */
    span[n - 1] = (hg_span){.first = 0, .last = 2, .bytes = 700};
}

static void offsets_random(void)
{
    static hg_span span[OFFSETS_MOST], plain[OFFSETS_MOST];
    static uint32_t room[HG_OFFSETS_ROOM(OFFSETS_MOST, OFFSETS_STEPS)];
    static size_t live[OFFSETS_STEPS + 2];
    uint64_t state = 11;
    uint32_t peak;
    for (int round = 0; round < 60; round++) {
        const uint32_t n = round == 0 ? 0 : fault_below(&state, OFFSETS_MOST);
        size_t top = 0;
        offsets_fill(span, n, &state);
        memcpy(plain, span, sizeof span);
        offsets_plain(plain, n);
        const size_t slab =
            hg_offsets_assign(span, n, OFFSETS_STEPS, SIZE_MAX, 0, (hg_span_stack){0}, room);
        for (uint32_t i = 0; i < n; i++) {
            CHECK_EQ_INT((int64_t)span[i].offset, (int64_t)plain[i].offset);
            if (span[i].bytes != 0 && span[i].offset + span[i].bytes > top)
                top = span[i].offset + span[i].bytes;
        }
        CHECK_EQ_INT((int64_t)slab, (int64_t)hg_align_up(top, HG_ALIGN));
        CHECK(hg_offsets_bound(span, n, OFFSETS_STEPS, live, &peak) <= slab);
    }
}

static void offsets_check_apart(const hg_span *span, uint32_t n, size_t slab)
{
    for (uint32_t i = 0; i < n; i++) {
        CHECK(span[i].offset % HG_ALIGN == 0 && span[i].offset + span[i].bytes <= slab);
        for (uint32_t k = 0; k < i; k++)
            CHECK(!offsets_live_together(&span[i], &span[k]) ||
                  span[i].offset + span[i].bytes <= span[k].offset ||
                  span[k].offset + span[k].bytes <= span[i].offset);
    }
}

/* Other orders keep everything apart, are never worse, and close the hole of a chain. */
static void offsets_tries(void)
{
    static hg_span span[OFFSETS_MOST], plain[OFFSETS_MOST];
    static uint32_t room[HG_OFFSETS_ROOM(OFFSETS_MOST, OFFSETS_STEPS)];
    static size_t live[OFFSETS_STEPS + 2];
    uint64_t state = 12;
    uint32_t peak;
    for (int round = 0; round < 60; round++) {
        const uint32_t n = 1 + fault_below(&state, 60);
        offsets_fill(span, n, &state);
        memcpy(plain, span, sizeof span);
        const size_t once =
            hg_offsets_assign(plain, n, OFFSETS_STEPS, SIZE_MAX, 0, (hg_span_stack){0}, room);
        const size_t bound = hg_offsets_bound(span, n, OFFSETS_STEPS, live, &peak);
        const size_t slab =
            hg_offsets_assign(span, n, OFFSETS_STEPS, bound, peak, (hg_span_stack){0}, room);
        CHECK(slab <= once && slab >= bound);
        offsets_check_apart(span, n, slab);
    }
    hg_span chain[] = {{.first = 0, .last = 1, .bytes = 2048},
                       {.first = 1, .last = 2, .bytes = 4096},
                       {.first = 2, .last = 3, .bytes = 1024},
                       {.first = 3, .last = 4, .bytes = 3072},
                       {.first = 4, .last = 5, .bytes = 3072}};
    const size_t bound = hg_offsets_bound(chain, 5, 5, live, &peak);
    const size_t slab = hg_offsets_assign(chain, 5, 5, bound, peak, (hg_span_stack){0}, room);
    CHECK_EQ_INT((int64_t)bound, 6144);
    CHECK(slab <= bound + bound / 20);
    offsets_check_apart(chain, 5, slab);
}

/* By size alone, and from there with what ends highest first, and outward, each leaves a hole;
 * bytes times steps does not. */
static void offsets_area(void)
{
    enum { N = 6, STEPS = 8 };
    hg_span span[N] = {{2, 6, 256, 0}, {3, 4, 256, 0}, {4, 6, 192, 0},
                       {4, 7, 512, 0}, {6, 8, 128, 0}, {7, 7, 512, 0}};
    uint32_t room[HG_OFFSETS_ROOM(N, STEPS)], peak;
    size_t per_step[STEPS + 1];
    for (uint32_t i = 0; i < N; i++)
        span[i].bytes *= 4096;
    const size_t bound = hg_offsets_bound(span, N, STEPS, per_step, &peak);
    const size_t slab = hg_offsets_assign(span, N, STEPS, bound, peak, (hg_span_stack){0}, room);
    CHECK_EQ_INT((int64_t)slab, (int64_t)bound);
    offsets_check_apart(span, N, slab);
}

static int offsets_by_first(const void *a, const void *b)
{
    const hg_span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Spans in order are placed outward from the peak, where any result is enough: they are apart, and
 * what lives at the peak lies side by side. */
static void offsets_outward(void)
{
    static hg_span span[OFFSETS_MOST];
    static uint32_t room[HG_OFFSETS_ROOM(OFFSETS_MOST, OFFSETS_STEPS)];
    static size_t live[OFFSETS_STEPS + 2];
    uint64_t state = 13;
    uint32_t peak;
    for (int round = 0; round < 100; round++) {
        const uint32_t n = 1 + fault_below(&state, round < 20 ? 8 : OFFSETS_MOST);
        offsets_fill(span, n, &state);
        qsort(span, n, sizeof *span, offsets_by_first);
        const size_t bound = hg_offsets_bound(span, n, OFFSETS_STEPS, live, &peak);
        const size_t slab =
            hg_offsets_assign(span, n, OFFSETS_STEPS, SIZE_MAX, peak, (hg_span_stack){0}, room);
        size_t most = 0;
        CHECK(slab >= bound);
        offsets_check_apart(span, n, slab);
        for (uint32_t i = 0; i < n; i++)
            if (span[i].first <= peak && span[i].last >= peak && span[i].bytes != 0)
                most = (size_t)hg_max((int64_t)most, (int64_t)(span[i].offset + span[i].bytes));
        CHECK_EQ_INT((int64_t)hg_align_up(most, HG_ALIGN), (int64_t)bound);
    }
}

static void offsets_shuffle(uint32_t *id, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = fault_below(state, i + 1);
        id[i] = id[at];
        id[at] = i;
    }
}

/* The order alone: that all lie at the beginning is wrong. */
static hg_span_stack offsets_flat(const uint32_t *id, uint32_t n, hg_span_place *place)
{
    for (uint32_t i = 0; i < n; i++)
        place[i] = (hg_span_place){.id = id[i]};
    return (hg_span_stack){place, n};
}

/* Any order keeps spans apart. One that leaves out a span, names one twice or one that is not there
 * is refused, and as advice has no effect; so has one that wastes. */
static void offsets_advised(void)
{
    static hg_span span[OFFSETS_MOST], own[OFFSETS_MOST];
    static hg_span_place place[OFFSETS_MOST];
    static uint32_t room[HG_OFFSETS_ROOM(OFFSETS_MOST, OFFSETS_STEPS)], id[OFFSETS_MOST];
    static size_t live[OFFSETS_STEPS + 2];
    uint64_t state = 14;
    uint32_t peak;
    int followed = 0, ignored = 0;
    for (int round = 0; round < 60; round++) {
        const uint32_t n = 2 + fault_below(&state, round < 40 ? 6 : 60);
        const hg_span_order order = {id, n};
        offsets_fill(span, n, &state);
        span[0].bytes = 500;
        memcpy(own, span, sizeof span);
        offsets_shuffle(id, n, &state);
        const size_t bound = hg_offsets_bound(span, n, OFFSETS_STEPS, live, &peak);
        const size_t as_told = hg_offsets_follow(span, n, OFFSETS_STEPS, order, room);
        CHECK(as_told >= bound && as_told != SIZE_MAX);
        offsets_check_apart(span, n, as_told);
        const size_t by_itself =
            hg_offsets_assign(own, n, OFFSETS_STEPS, bound, peak, (hg_span_stack){0}, room);
        const size_t slab = hg_offsets_assign(span, n, OFFSETS_STEPS, bound, peak,
                                              offsets_flat(id, n, place), room);
        const bool serves = as_told <= bound + bound / 20;
        CHECK_EQ_INT((int64_t)slab, (int64_t)(serves ? as_told : by_itself));
        offsets_check_apart(span, n, slab);
        followed += serves;
        ignored += !serves;
        for (int damage = 0; damage < 3; damage++) {
            hg_span_order bad = order;
            const uint32_t at = fault_below(&state, n), kept = id[at];
            if (damage == 0) id[at] = id[at == 0 ? 1 : 0];
            if (damage == 1) id[at] = n + fault_below(&state, 3) * 0x40000000U;
            for (uint32_t i = 0; damage == 2 && i < n; i++) /* all from the first one on */
                if (id[i] == 0) bad.n = i;
            CHECK(hg_offsets_follow(span, n, OFFSETS_STEPS, bad, room) == SIZE_MAX);
            CHECK_EQ_INT((int64_t)hg_offsets_assign(span, n, OFFSETS_STEPS, bound, peak,
                                                    offsets_flat(id, bad.n, place), room),
                         (int64_t)by_itself);
            offsets_check_apart(span, n, by_itself);
            id[at] = kept;
        }
    }
    CHECK(followed > 5 && ignored > 5);
}

/* Offsets become a stack and are found again from it, also with all sizes doubled. Sizes that do
 * not fit, spans that are missing, named twice or not there, and loops are refused; as advice a
 * stack that is not right is at least an order, which serves as well. */
static void offsets_stacked(void)
{
    static hg_span span[OFFSETS_MOST], twice[OFFSETS_MOST];
    static hg_span_place place[OFFSETS_MOST];
    static uint32_t room[HG_OFFSETS_ROOM(OFFSETS_MOST, OFFSETS_STEPS)];
    static size_t live[OFFSETS_STEPS + 2];
    uint64_t state = 15;
    uint32_t peak;
    int refused = 0;
    for (int round = 0; round < 100; round++) {
        const uint32_t n = 2 + fault_below(&state, round < 20 ? 8 : OFFSETS_MOST - 2);
        offsets_fill(span, n, &state);
        for (uint32_t i = 0; i < n; i++)
            span[i].bytes = span[i].bytes / 100 * HG_ALIGN;
        qsort(span, n, sizeof *span, offsets_by_first);
        const size_t bound = hg_offsets_bound(span, n, OFFSETS_STEPS, live, &peak);
        const size_t slab =
            hg_offsets_assign(span, n, OFFSETS_STEPS, bound, peak, (hg_span_stack){0}, room);
        const hg_span_stack stack = {place, hg_offsets_unstack(span, n, place)};
        CHECK(slab == 0 || stack.n != 0);
        memcpy(twice, span, sizeof span);
        for (uint32_t i = 0; i < n; i++)
            twice[i].bytes *= 2;
        CHECK_EQ_INT((int64_t)hg_offsets_stack(twice, n, stack, room), 2 * (int64_t)slab);
        for (uint32_t i = 0; i < n; i++)
            CHECK_EQ_INT((int64_t)twice[i].offset, 2 * (int64_t)span[i].offset);
        if (stack.n < 2) continue;
        const uint32_t at = 1 + fault_below(&state, stack.n - 1);
        const hg_span_place kept = place[at];
        CHECK(hg_offsets_stack(twice, n, (hg_span_stack){place, stack.n - 1}, room) == SIZE_MAX);
        place[at].id = place[0].id;
        CHECK(hg_offsets_stack(twice, n, stack, room) == SIZE_MAX);
        place[at].id = n;
        CHECK(hg_offsets_stack(twice, n, stack, room) == SIZE_MAX);
        place[at] = (hg_span_place){kept.id, kept.id + 1}; /* on itself */
        CHECK(hg_offsets_stack(twice, n, stack, room) == SIZE_MAX);
        place[at].below = n + 1;
        CHECK(hg_offsets_stack(twice, n, stack, room) == SIZE_MAX);
        place[at] = kept;
        twice[place[at].id].bytes += 1 << 20;
        const size_t other = hg_offsets_stack(twice, n, stack, room);
        if (other == SIZE_MAX) refused++;
        if (other != SIZE_MAX) offsets_check_apart(twice, n, other);
        /* As advice it is an order then, in which nothing comes to lie higher; what is quicker may
         * take a twentieth more. */
        place[at].below = 0;
        const size_t again = hg_offsets_assign(span, n, OFFSETS_STEPS, slab, peak, stack, room);
        CHECK(again <= slab + slab / 20);
        offsets_check_apart(span, n, again);
    }
    CHECK(refused > 5);
}

/* A stack of spans that are not in order of their first step cannot be checked. */
static void offsets_stack_order(void)
{
    hg_span span[2] = {{.first = 2, .last = 2, .bytes = 64}, {.first = 1, .last = 1, .bytes = 64}};
    uint32_t room[HG_OFFSETS_ROOM(2, 3)];
    const hg_span_place place[] = {{0, 0}, {1, 1}};
    CHECK(hg_offsets_stack(span, 2, (hg_span_stack){place, 2}, room) == SIZE_MAX);
    span[0].offset = 100; /* lies on nothing */
    span[1].offset = 0;
    hg_span_place out[2];
    CHECK_EQ_INT(hg_offsets_unstack(span, 2, out), 0);
}

/* What needs no place has one at the beginning, whether the order names it or not. */
static void offsets_empty(void)
{
    hg_span span[3] = {{.bytes = 0}, {.bytes = 100}, {.bytes = 0}};
    uint32_t room[HG_OFFSETS_ROOM(3, 1)];
    const uint32_t id[] = {1, 2};
    CHECK_EQ_INT((int64_t)hg_offsets_follow(span, 3, 1, (hg_span_order){id, 2}, room), 128);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT((int64_t)span[i].offset, 0);
    const hg_span_place place[] = {{1, 0}, {2, 2}};
    CHECK_EQ_INT((int64_t)hg_offsets_stack(span, 3, (hg_span_stack){place, 2}, room), 128);
    for (int i = 0; i < 3; i++)
        CHECK_EQ_INT((int64_t)span[i].offset, 0);
}

static void offsets_too_large(void)
{
    hg_span span[2] = {{.bytes = SIZE_MAX / 3}, {.bytes = SIZE_MAX / 3}};
    uint32_t room[HG_OFFSETS_ROOM(2, 1)];
    const uint32_t id[] = {0, 1};
    CHECK(hg_offsets_assign(span, 2, 1, 0, 0, (hg_span_stack){0}, room) == SIZE_MAX);
    CHECK(hg_offsets_follow(span, 2, 1, (hg_span_order){id, 2}, room) == SIZE_MAX);
    const hg_span_place place[] = {{0, 0}, {1, 1}};
    CHECK(hg_offsets_stack(span, 2, (hg_span_stack){place, 2}, room) == SIZE_MAX);
}

const hg_test_case hg_tests_isa_offsets[] = {
    {"area", offsets_area},
    {"random", offsets_random},
    {"tries", offsets_tries},
    {"outward", offsets_outward},
    {"advised", offsets_advised},
    {"stacked", offsets_stacked},
    {"stack_order", offsets_stack_order},
    {"empty", offsets_empty},
    {"too_large", offsets_too_large},
    {0},
};
