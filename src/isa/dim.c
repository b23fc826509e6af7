/* dim.c - the table of dimension expressions: records, symbols, questions, substitution. */
#include "isa/dim.h"
#include "base/hash.h"
#include "isa/dim_form.h"

#include <stdlib.h>

void hg_dims_init(hg_dims *d, hg_arena *arena)
{
    *d = (hg_dims){.arena = arena, .count = 1};
    hg_map_init(&d->symbol_of, arena);
}

bool hg_dim_eval_op(hg_dim_op op, int64_t a, int64_t b, int64_t c, int64_t *out)
{
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    switch (op) {
    case HG_DIM_CONST:
    case HG_DIM_SYMBOL: return false;
    case HG_DIM_ADD: return hg_add_i64(a, b, out);
    case HG_DIM_SUB: return hg_sub_i64(a, b, out);
    case HG_DIM_MUL: return hg_mul_i64(a, b, out);
    case HG_DIM_FLOORDIV:
        if (divides) *out = hg_floor_div(a, b);
        return divides;
    case HG_DIM_CEILDIV:
        if (divides) *out = hg_ceil_div(a, b);
        return divides;
    case HG_DIM_TRUNCDIV:
        if (divides) *out = a / b;
        return divides;
    case HG_DIM_MOD:
        if (b == 0) return false;
        *out = b == -1 ? 0 : a % b;
        if (*out != 0 && (*out < 0) != (b < 0)) *out += b;
        return true;
    case HG_DIM_MIN: *out = hg_min(a, b); return true;
    case HG_DIM_MAX: *out = hg_max(a, b); return true;
    case HG_DIM_EQ: *out = a == b; return true;
    case HG_DIM_LT: *out = a < b; return true;
    case HG_DIM_SELECT: *out = a != 0 ? b : c; return true;
    }
    return false;
}

/* ---- records ------------------------------------------------------------------- */

static hg_dim dim_fail(hg_dims *d)
{
    d->failed = true;
    return 0;
}

static uint64_t dim_key(const hg_dims *d, const hg_dim_rec *r)
{
    uint64_t part[5] = {r->op, r->a, r->b, r->c, (uint64_t)r->value};
    if (r->op == HG_DIM_SYMBOL) {
        hg_str name = d->symbol[r->value].name;
        return hg_hash(name.text, name.length, HG_DIM_SYMBOL);
    }
    if (r->op != HG_DIM_CONST) {
        part[1] = r->a != 0 ? d->info[r->a].key : 0;
        part[2] = r->b != 0 ? d->info[r->b].key : 0;
        part[3] = r->c != 0 ? d->info[r->c].key : 0;
    }
    uint64_t key = UINT64_C(0x9e3779b97f4a7c15); /* by words, so that byte order does not matter */
    for (size_t i = 0; i < HG_COUNT(part); i++) {
        key = (key ^ part[i]) * UINT64_C(0xd6e8feb86659fd93);
        key ^= key >> 32;
    }
    return key;
}

static bool dim_rec_equal(const hg_dim_rec *a, const hg_dim_rec *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c && a->value == b->value;
}

/* The slot that holds the record's id, or the free one where it belongs. */
static uint32_t *dim_probe(const hg_dims *d, const hg_dim_rec *r, uint64_t key)
{
    for (size_t i = key & (d->n_slot - 1);; i = (i + 1) & (d->n_slot - 1)) {
        uint32_t id = d->slot[i];
        if (id == 0 || (d->info[id].key == key && dim_rec_equal(&d->rec[id], r)))
            return &d->slot[i];
    }
}

/* Room for one more record; the hash table stays at most half full. */
static bool dim_reserve(hg_dims *d)
{
    if (d->count < d->capacity) return true;
    size_t capacity = d->capacity == 0 ? 64 : d->capacity * 2;
    if (capacity > UINT32_MAX / 2) return false;
    hg_dim_rec *rec = hg_arena_array(d->arena, capacity, sizeof *rec);
    hg_dim_info *info = hg_arena_array(d->arena, capacity, sizeof *info);
    uint32_t *slot = hg_arena_array(d->arena, capacity * 2, sizeof *slot);
    if (rec == NULL || info == NULL || slot == NULL) return false;
    if (d->capacity != 0) {
        memcpy(rec, d->rec, d->count * sizeof *rec);
        memcpy(info, d->info, d->count * sizeof *info);
    }
    d->rec = rec;
    d->info = info;
    d->slot = slot;
    d->capacity = capacity;
    d->n_slot = capacity * 2;
    for (uint32_t id = 1; id < d->count; id++)
        *dim_probe(d, &rec[id], info[id].key) = id;
    return true;
}

static hg_dim dim_intern(hg_dims *d, hg_dim_rec rec, hg_dim_info info)
{
    if (d->failed || !dim_reserve(d)) return dim_fail(d);
    info.key = dim_key(d, &rec);
    uint32_t *slot = dim_probe(d, &rec, info.key);
    if (*slot == 0) {
        *slot = (uint32_t)d->count;
        d->rec[d->count] = rec;
        d->info[d->count] = info;
        d->count++;
    }
    return *slot;
}

hg_dim hg_dim_plain(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c)
{
    if (a == 0 || b == 0) return 0;
    hg_dim_rec rec = {.op = op, .a = a, .b = b, .c = c};
    return dim_intern(d, rec, hg_dim_range_of(d, op, a, b, c));
}

hg_dim hg_dim_const(hg_dims *d, int64_t value)
{
    return dim_intern(d, (hg_dim_rec){.op = HG_DIM_CONST, .value = value},
                      (hg_dim_info){.low = value, .high = value});
}

/* ---- symbols ------------------------------------------------------------------- */

/* A copy of the name, with a number behind it when it is empty or taken. */
static hg_str dim_unique_name(hg_dims *d, hg_str name)
{
    if (name.length != 0 && hg_map_get(&d->symbol_of, name) == 0)
        return hg_str_copy(d->arena, name);
    for (size_t n = d->n_symbol;; n++) {
        hg_str numbered = hg_str_format(d->arena, "%.*s_%zu", HG_STR_ARG(name), n);
        if (numbered.text == NULL || hg_map_get(&d->symbol_of, numbered) == 0) return numbered;
    }
}

hg_dim hg_dim_symbol(hg_dims *d, hg_symbol symbol)
{
    if (d->failed) return 0;
    hg_symbol *grown =
        hg_arena_grow(d->arena, d->symbol, d->n_symbol, &d->symbol_capacity, sizeof *grown);
    if (grown == NULL) return dim_fail(d);
    d->symbol = grown;
    symbol.name = dim_unique_name(d, symbol.name);
    if (symbol.name.text == NULL) return dim_fail(d);
    uint32_t number = (uint32_t)d->n_symbol;
    if (!hg_map_set(&d->symbol_of, symbol.name, number + 1)) return dim_fail(d);
    grown[d->n_symbol++] = symbol;
    /* Sizes are never negative; elements of a tensor may be. */
    int64_t low = symbol.kind == HG_SYMBOL_CONTENT ? INT64_MIN : 0;
    return dim_intern(d, (hg_dim_rec){.op = HG_DIM_SYMBOL, .value = number},
                      (hg_dim_info){.low = low, .high = INT64_MAX});
}

hg_dim hg_dim_named(hg_dims *d, hg_str name)
{
    uint32_t known = hg_map_get(&d->symbol_of, name);
    if (known == 0)
        return hg_dim_symbol(d, (hg_symbol){.name = name, .kind = HG_SYMBOL_INPUT, .at_most = -1});
    int64_t low = d->symbol[known - 1].kind == HG_SYMBOL_CONTENT ? INT64_MIN : 0;
    return dim_intern(d, (hg_dim_rec){.op = HG_DIM_SYMBOL, .value = known - 1},
                      (hg_dim_info){.low = low, .high = INT64_MAX});
}

/* ---- questions ----------------------------------------------------------------- */

bool hg_dim_is_const(const hg_dims *d, hg_dim dim, int64_t *value)
{
    if (dim == 0 || d->rec[dim].op != HG_DIM_CONST) return false;
    *value = d->rec[dim].value;
    return true;
}

bool hg_dim_is(const hg_dims *d, hg_dim dim, int64_t value)
{
    int64_t actual;
    return hg_dim_is_const(d, dim, &actual) && actual == value;
}

bool hg_dim_is_never(hg_dims *d, hg_dim dim, int64_t value)
{
    return hg_dim_is(d, hg_dim_eq(d, dim, hg_dim_const(d, value)), 0);
}

int64_t hg_dim_symbol_of(const hg_dims *d, hg_dim dim)
{
    return dim != 0 && d->rec[dim].op == HG_DIM_SYMBOL ? d->rec[dim].value : -1;
}

bool hg_dim_is_nonnegative(const hg_dims *d, hg_dim dim)
{
    return dim != 0 && d->info[dim].low >= 0;
}

bool hg_dim_is_positive(const hg_dims *d, hg_dim dim)
{
    return dim != 0 && d->info[dim].low >= 1;
}

bool hg_dim_before(const hg_dims *d, hg_dim a, hg_dim b)
{
    const hg_dim_rec *x = &d->rec[a], *y = &d->rec[b];
    if (x->op == HG_DIM_SYMBOL && y->op == HG_DIM_SYMBOL) {
        hg_str s = d->symbol[x->value].name, t = d->symbol[y->value].name;
        size_t shorter = s.length < t.length ? s.length : t.length;
        int order = memcmp(s.text, t.text, shorter);
        return order != 0 ? order < 0 : s.length < t.length;
    }
    if (x->op != y->op) return x->op < y->op; /* symbols before expressions */
    if (d->info[a].key != d->info[b].key) return d->info[a].key < d->info[b].key;
    return a < b;
}

/* ---- substitution -------------------------------------------------------------- */

/* The records below an expression, each once. */
typedef struct dim_reach {
    hg_dim *id;
    size_t n, capacity;
    uint32_t *slot; /* hash set: index + 1 into id */
    size_t n_slot;
    hg_arena *arena;
} dim_reach;

static uint32_t *dim_reach_probe(const dim_reach *r, hg_dim id)
{
    for (size_t i = (size_t)id * 0x9e3779b1u & (r->n_slot - 1);; i = (i + 1) & (r->n_slot - 1))
        if (r->slot[i] == 0 || r->id[r->slot[i] - 1] == id) return &r->slot[i];
}

static bool dim_reach_grow(dim_reach *r)
{
    hg_dim *id = hg_arena_grow(r->arena, r->id, r->n, &r->capacity, sizeof *id);
    uint32_t *slot = hg_arena_array(r->arena, r->capacity * 2, sizeof *slot);
    if (id == NULL || slot == NULL) return false;
    r->id = id;
    r->slot = slot;
    r->n_slot = r->capacity * 2;
    for (size_t i = 0; i < r->n; i++)
        *dim_reach_probe(r, id[i]) = (uint32_t)i + 1;
    return true;
}

static bool dim_reach_add(dim_reach *r, hg_dim id)
{
    if (id == 0) return true;
    if (r->n == r->capacity && !dim_reach_grow(r)) return false;
    uint32_t *slot = dim_reach_probe(r, id);
    if (*slot != 0) return true;
    r->id[r->n++] = id;
    *slot = (uint32_t)r->n;
    return true;
}

static bool dim_reach_all(const hg_dims *d, dim_reach *r, hg_dim root)
{
    if (!dim_reach_add(r, root)) return false;
    for (size_t i = 0; i < r->n; i++) {
        const hg_dim_rec *rec = &d->rec[r->id[i]];
        if (!dim_reach_add(r, rec->a) || !dim_reach_add(r, rec->b) || !dim_reach_add(r, rec->c))
            return false;
    }
    return true;
}

static int dim_compare_ids(const void *a, const void *b)
{
    hg_dim x = *(const hg_dim *)a, y = *(const hg_dim *)b;
    return (x > y) - (x < y);
}

static hg_dim dim_lookup(const hg_dim *id, const hg_dim *now, size_t n, hg_dim wanted)
{
    if (wanted == 0) return 0;
    const hg_dim *found = bsearch(&wanted, id, n, sizeof wanted, dim_compare_ids);
    return now[found - id];
}

hg_dim hg_dim_substitute(hg_dims *d, hg_dim dim, const hg_dim *to, size_t n_to)
{
    hg_dim id[32], now[32] = {0};
    uint32_t slot[64] = {0};
    dim_reach r = {.id = id, .capacity = 32, .slot = slot, .n_slot = 64, .arena = d->arena};
    if (dim == 0 || d->rec[dim].op == HG_DIM_CONST) return dim;
    if (!dim_reach_all(d, &r, dim)) return dim_fail(d);
    hg_dim *result = r.n <= HG_COUNT(now) ? now : hg_arena_array(d->arena, r.n, sizeof *result);
    if (result == NULL) return dim_fail(d);
    /* Operands have smaller ids than what uses them. */
    qsort(r.id, r.n, sizeof *r.id, dim_compare_ids);
    for (size_t i = 0; i < r.n; i++) {
        hg_dim_rec rec = d->rec[r.id[i]];
        result[i] = r.id[i];
        if (rec.op == HG_DIM_SYMBOL) {
            if ((uint64_t)rec.value < n_to && to[rec.value] != 0) result[i] = to[rec.value];
        } else if (rec.op != HG_DIM_CONST) {
            hg_dim a = dim_lookup(r.id, result, i, rec.a), b = dim_lookup(r.id, result, i, rec.b);
            hg_dim c = dim_lookup(r.id, result, i, rec.c);
            if (a != rec.a || b != rec.b || c != rec.c)
                result[i] = hg_dim_make(d, (hg_dim_op)rec.op, a, b, c);
        }
        if (result[i] == 0) return 0;
    }
    return result[r.n - 1];
}

hg_dim hg_dim_make(hg_dims *d, hg_dim_op op, hg_dim a, hg_dim b, hg_dim c)
{
    switch (op) {
    case HG_DIM_CONST:
    case HG_DIM_SYMBOL: return 0;
    case HG_DIM_ADD: return hg_dim_add(d, a, b);
    case HG_DIM_SUB: return hg_dim_sub(d, a, b);
    case HG_DIM_MUL: return hg_dim_mul(d, a, b);
    case HG_DIM_FLOORDIV: return hg_dim_floordiv(d, a, b);
    case HG_DIM_CEILDIV: return hg_dim_ceildiv(d, a, b);
    case HG_DIM_TRUNCDIV: return hg_dim_truncdiv(d, a, b);
    case HG_DIM_MOD: return hg_dim_mod(d, a, b);
    case HG_DIM_MIN: return hg_dim_min(d, a, b);
    case HG_DIM_MAX: return hg_dim_max(d, a, b);
    case HG_DIM_EQ: return hg_dim_eq(d, a, b);
    case HG_DIM_LT: return hg_dim_lt(d, a, b);
    case HG_DIM_SELECT: return hg_dim_select(d, a, b, c);
    }
    return 0;
}
