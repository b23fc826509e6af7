/* places.c - where buffers lie: as a session lays them out, or in an order in which memory has
 * fewer holes, looked for at leisure.
 *
 * The runtime tries a handful of orders, because every open pays for them; of 226 architectures 8
 * were left with more than a twentieth above the bound, one with a third. Here the search goes on:
 * what ends highest is placed first the next time, and when that has not helped for a while the
 * best order is shaken. The same spans give the same order: they follow from the program alone. */
#include "compile/places.h"

#include "base/hash.h"
#include "runtime/redzone.h"

enum {
    PLACES_BUFFERS = 1 << 13, /* of more a session finds the places itself */
    PLACES_WORK = 1 << 22,    /* spans placed in all: less than half a second */
    PLACES_PATIENCE = 8,      /* orders without success before the best one is shaken; then twice */
    PLACES_MOST = 512,        /* that often, and so on up to this, and from the beginning */
    PLACES_WORTH = 50,        /* the part of the bound that is left alone, */
    PLACES_LOSS = 20          /* and that a session takes before it looks by itself */
};

typedef struct places_search {
    hg_span *span;
    uint32_t n, n_steps;
    uint32_t *order, *best, wanted;
    uint32_t *room;
    size_t slab; /* of the best */
    uint64_t state;
} places_search;

static uint32_t places_below(places_search *p, uint32_t n)
{
    p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((p->state >> 33) % n);
}

/* Entry `from` goes to place `to`, those between make room. */
static void places_move(uint32_t *order, uint32_t from, uint32_t to)
{
    const uint32_t id = order[from];
    if (from > to)
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    else
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    order[to] = id;
}

/* Places all in p->order, keeps it when it is the best. Returns which entry ends highest. */
static uint32_t places_try(places_search *p, bool *is_best)
{
    const hg_span_order order = {p->order, p->wanted};
    const size_t slab = hg_offsets_follow(p->span, p->n, p->n_steps, order, p->room);
    uint32_t top = 0;
    size_t end = 0;
    for (uint32_t i = 0; i < p->wanted; i++) {
        const hg_span *s = &p->span[p->order[i]];
        if (s->offset + s->bytes <= end) continue;
        end = s->offset + s->bytes;
        top = i;
    }
    *is_best = slab < p->slab;
    if (slab > p->slab) return top; /* one that is as good is another way to go */
    p->slab = slab;
    memcpy(p->best, p->order, p->wanted * sizeof *p->order);
    return top;
}

/* Bytes times steps: what lasts long stands in the way of most. */
static double places_area(const hg_span *s)
{
    return (double)s->bytes * (s->last - s->first + 1.0);
}

/* The largest area first: where the search begins. An insertion sort, as it is made once. */
static void places_begin(places_search *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t at = p->wanted;
        if (p->span[i].bytes == 0) continue;
        for (; at > 0 && places_area(&p->span[p->order[at - 1]]) < places_area(&p->span[i]); at--)
            p->order[at] = p->order[at - 1];
        p->order[at] = i;
        p->wanted++;
    }
}

static void places_run(places_search *p, size_t enough)
{
    uint32_t patience = PLACES_PATIENCE, since = 0;
    places_begin(p);
    for (uint64_t work = 0; work < PLACES_WORK && p->slab > enough; work += p->wanted) {
        bool is_best;
        const uint32_t top = places_try(p, &is_best);
        since = is_best ? 0 : since + 1;
        if (since < patience) {
            places_move(p->order, top, 0);
            continue;
        }
        memcpy(p->order, p->best, p->wanted * sizeof *p->order);
        places_move(p->order, places_below(p, p->wanted), places_below(p, p->wanted));
        patience = patience < PLACES_MOST ? 2 * patience : PLACES_PATIENCE;
        since = 0;
    }
}

/* Buffers of a session whose sizes are settled, laid out as a session does, without what some
 * builds leave between them: all builds write the same file. */
typedef struct places_layout {
    hg_span *span;
    uint32_t n, n_steps;
    uint32_t *room;
    size_t bound, slab;
} places_layout;

static holo_status places_settled(hg_compile *c, const holo_session *s, places_layout *l)
{
    size_t *live;
    uint32_t peak;
    *l = (places_layout){.n = s->graph->n_buffer, .n_steps = s->graph->program.head.n_step};
    HG_TRY(HG_NEW(&c->ctx, l->n, &l->span));
    HG_TRY(HG_NEW(&c->ctx, HG_OFFSETS_ROOM(l->n, l->n_steps), &l->room));
    HG_TRY(HG_NEW(&c->ctx, (size_t)l->n_steps + 1, &live));
    memcpy(l->span, s->span, l->n * sizeof *l->span);
    for (uint32_t i = 0; i < l->n; i++)
        if (l->span[i].bytes != 0) l->span[i].bytes -= HG_REDZONE_BYTES;
    l->bound = hg_offsets_bound(l->span, l->n, l->n_steps, live, &peak);
    l->slab =
        hg_offsets_assign(l->span, l->n, l->n_steps, l->bound, peak, (hg_span_stack){0}, l->room);
    return HOLO_OK;
}

/* Looks for a better order, which then counts. */
static holo_status places_improve(hg_compile *c, places_layout *l, bool *better)
{
    const size_t enough = l->bound + l->bound / PLACES_WORTH;
    places_search p = {
        .n = l->n, .n_steps = l->n_steps, .slab = SIZE_MAX, .room = l->room, .state = 1};
    if (l->slab <= enough) return HOLO_OK;
    HG_TRY(HG_NEW(&c->ctx, p.n, &p.span));
    HG_TRY(HG_NEW(&c->ctx, p.n, &p.order));
    HG_TRY(HG_NEW(&c->ctx, p.n, &p.best));
    memcpy(p.span, l->span, p.n * sizeof *p.span);
    places_run(&p, enough);
    *better = p.slab < l->slab;
    if (*better)
        l->slab = hg_offsets_follow(l->span, l->n, l->n_steps, (hg_span_order){p.best, p.wanted},
                                    l->room);
    return HOLO_OK;
}

/* ---- public ---------------------------------------------------------------------------------- */

holo_status hg_places_room(hg_compile *c, uint32_t graph)
{
    const hg_program *p = &c->model[graph].program;
    hg_compile_places *places = &c->places[graph];
    uint32_t count = 0;
    for (uint32_t v = 1; v < p->head.n_value; v++)
        count += p->value[v].storage == HG_STORAGE_ARENA;
    if (count < 2 || count > PLACES_BUFFERS) return HOLO_OK;
    places->bytes = sizeof *places->section + count * sizeof(hg_span_place);
    places->section = hg_arena_alloc(&c->ctx.arena, places->bytes);
    if (places->section == NULL) return hg_fail_nomem(c->ctx.error, places->bytes);
    places->section->graph = graph;
    return HOLO_OK;
}

holo_status hg_places_find(hg_compile *c, const holo_session *s, uint32_t graph, size_t *arena)
{
    hg_compile_places *places = &c->places[graph];
    places_layout l;
    *arena = s->arena_bytes;
    if (places->section == NULL) return HOLO_OK;
    HG_TRY(places_settled(c, s, &l));
    assert(l.n <= (places->bytes - sizeof *places->section) / sizeof(hg_span_place));
    HG_TRY(places_improve(c, &l, &places->is_better));
    *arena = l.slab;
    places->section->count =
        hg_offsets_unstack(l.span, l.n, (hg_span_place *)(void *)(places->section + 1));
    return HOLO_OK;
}

holo_status hg_places_check(hg_compile *c, const holo_session *s, uint32_t graph)
{
    hg_holo_places *section = c->places[graph].section;
    places_layout l;
    if (section == NULL || section->count == 0 || c->places[graph].is_better) return HOLO_OK;
    HG_TRY(places_settled(c, s, &l));
    const hg_span_stack stack = {(const hg_span_place *)(const void *)(section + 1),
                                 section->count};
    if (hg_offsets_stack(l.span, l.n, stack, l.room) > l.bound + l.bound / PLACES_LOSS)
        section->count = 0;
    return HOLO_OK;
}

static holo_status places_patch(hg_compile *c, hg_writer *w, uint8_t *data, uint64_t at,
                                const void *bytes, size_t size)
{
    if (w != NULL) return hg_writer_patch(w, at, bytes, size, c->ctx.error);
    memcpy(data + at, bytes, size);
    return HOLO_OK;
}

holo_status hg_places_seal(hg_compile *c, hg_writer *w, uint8_t *data)
{
    hg_holo_section *table = c->holo.table;
    for (size_t i = 0; i < c->n_model; i++) {
        const hg_compile_places *places = &c->places[i];
        if (places->section == NULL) continue;
        hg_holo_section *s = &table[places->at];
        s->hash = hg_hash_blocks(places->section, places->bytes);
        HG_TRY(places_patch(c, w, data, s->offset, places->section, places->bytes));
    }
    const hg_holo_head head = hg_holo_write_head(&c->holo);
    HG_TRY(places_patch(c, w, data, 0, &head, sizeof head));
    return places_patch(c, w, data, sizeof head, table, c->holo.n_section * sizeof *table);
}
