/* find.c - inputs for a node: a value that is there, one made from it, or a new one. */
#include "random/random.h"

#include <math.h>

hg_attr rnd_attr_int(const char *name, int64_t value)
{
    return (hg_attr){.name = hg_str_from(name), .kind = HG_ATTR_INT, .i = value};
}

int32_t rnd_ints(rnd_gen *n, const int64_t *value, int64_t count)
{
    holo_tensor t = rnd_tensor(&n->g->arena, HOLO_I64, 1, &count);
    if (count > 0) memcpy(t.data, value, (size_t)count * sizeof *value);
    int32_t v = rnd_add_value(n, t, true);
    if (v != RND_NONE) n->g->value[v].is_pinned = true;
    return v;
}

int32_t rnd_apply(rnd_gen *n, const char *op, const int32_t *in, uint32_t n_in, const hg_attr *attr,
                  uint32_t n_attr)
{
    rnd_node node = {.op = hg_op_get(op), .n_in = n_in, .n_attr = n_attr, .n_out = 1};
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i] == RND_NONE) return RND_NONE;
        node.in[i] = in[i];
    }
    node.attr = hg_arena_alloc(&n->g->arena, (n_attr + 1) * sizeof *attr);
    if (n_attr > 0) memcpy(node.attr, attr, n_attr * sizeof *attr);
    return rnd_add_node(n, &node) ? n->g->node[n->g->n_node - 1].out[0] : RND_NONE;
}

bool rnd_is_visible(const rnd_gen *n, int32_t value)
{
    const int32_t body = n->g->value[value].body;
    return body == 0 || body == n->body;
}

/* ---- a value of another shape ---------------------------------------------------------------- */

static int32_t find_reshape(rnd_gen *n, int32_t value, int32_t rank, const int64_t *dim)
{
    hg_attr zero = rnd_attr_int("allowzero", 1);
    bool has_zero = false;
    for (int32_t k = 0; k < rank; k++)
        has_zero |= dim[k] == 0;
    return rnd_apply(n, "Reshape", (int32_t[]){value, rnd_ints(n, dim, rank)}, 2, &zero,
                     has_zero ? 1 : 0);
}

/* A vector of at least one element becomes one of `count`. */
static int32_t find_resize(rnd_gen *n, int32_t value, int64_t have, int64_t count)
{
    const int64_t zero = 0, times = (count + have - 1) / have;
    if (count > have)
        value = rnd_apply(n, "Tile", (int32_t[]){value, rnd_ints(n, &times, 1)}, 2, NULL, 0);
    if (value == RND_NONE || count == have * times) return value;
    return rnd_apply(n, "Slice", (int32_t[]){value, rnd_ints(n, &zero, 1), rnd_ints(n, &count, 1)},
                     3, NULL, 0);
}

int32_t rnd_adapt(rnd_gen *n, int32_t value, holo_dtype dtype, int32_t rank, const int64_t *dim)
{
    const holo_tensor *t = &n->g->value[value].t;
    const int64_t have = holo_tensor_count(t), all = -1;
    int64_t count = 1;
    bool same = rank == t->rank;
    for (int32_t k = 0; k < rank; k++) {
        count *= dim[k];
        same = same && dim[k] == t->dim[k];
    }
    if (t->dtype >= HOLO_SEQUENCE || have == 0 || count > RND_MAX_ELEMENTS) return RND_NONE;
    if (t->dtype != dtype) {
        hg_attr to = rnd_attr_int("to", (int64_t)dtype);
        value = rnd_apply(n, "Cast", &value, 1, &to, 1);
    }
    if (same || value == RND_NONE) return value;
    if (have != count) {
        if (n->g->value[value].t.rank != 1) value = find_reshape(n, value, 1, &all);
        if (value != RND_NONE) value = find_resize(n, value, have, count);
        if (value == RND_NONE || rank == 1) return value;
    }
    return find_reshape(n, value, rank, dim);
}

/* Numbers that could not be known become valid ones: an index is taken modulo the size. */
static int32_t find_tame(rnd_gen *n, int32_t value, const char *fill, rnd_bind *b)
{
    const holo_dtype dtype = n->g->value[value].t.dtype;
    const char *at = strchr(fill, '(');
    if (strncmp(fill, "unit", 4) == 0) return rnd_apply(n, "Sigmoid", &value, 1, NULL, 0);
    if (strncmp(fill, "pos", 3) == 0) return rnd_apply(n, "Exp", &value, 1, NULL, 0);
    if (at == NULL || strchr(fill, ',') != NULL || strstr(fill, "idx(") == NULL) return RND_NONE;
    if (!hg_dtype_in(dtype, HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_I32))) return RND_NONE;
    at++;
    const int64_t size = rnd_eval(n->source, b, &at);
    if (size <= 0) return RND_NONE;
    holo_tensor t = rnd_tensor(&n->g->arena, dtype, 0, NULL);
    if (dtype == HOLO_I64)
        *(int64_t *)t.data = size;
    else
        *(int32_t *)t.data = (int32_t)size;
    return rnd_apply(n, "Mod", (int32_t[]){value, rnd_add_value(n, t, true)}, 2, NULL, 0);
}

bool rnd_type_in(holo_dtype dtype, hg_types types)
{
    if (dtype == HOLO_SEQUENCE) return (types & RND_SEQUENCE) != 0;
    if (dtype == HOLO_OPTIONAL) return (types & RND_OPTIONAL) != 0;
    if (dtype == HOLO_MAP) return (types & RND_MAP) != 0;
    return hg_dtype_in(dtype, types);
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool find_broadcasts(const rnd_bind *b, const holo_tensor *t)
{
    if (t->rank > b->first_rank) return false;
    for (int32_t k = 0; k < t->rank; k++) {
        int64_t d = t->dim[t->rank - 1 - k], e = b->first[b->first_rank - 1 - k];
        if (d != e && d != 1) return false;
    }
    return true;
}

/* The fill of a map is "i64|string,f32": types of its keys and values. */
static void find_map_types(const char *fill, hg_types types[2])
{
    const size_t comma = strcspn(fill, ",");
    types[0] = rnd_types(fill, comma);
    types[1] = fill[comma] == 0 ? 0 : rnd_types(fill + comma + 1, strlen(fill + comma + 1));
    if (types[0] == 0) types[0] = HG_TYPE_BIT(HOLO_I64) | HG_TYPES_STRING;
    if (types[1] == 0) types[1] = HG_TYPE_BIT(HOLO_F32);
}

static bool find_matches_map(const rnd_want *want, const holo_tensor *map)
{
    const holo_tensor *pair = map->data;
    hg_types types[2];
    find_map_types(want->fill, types);
    return hg_dtype_in(pair[0].dtype, types[0]) && hg_dtype_in(pair[1].dtype, types[1]);
}

static bool find_matches(rnd_gen *n, const rnd_want *want, rnd_bind *b, int32_t value)
{
    const holo_tensor *t = &n->g->value[value].t;
    if (!rnd_type_in(t->dtype, want->types)) return false;
    if (t->dtype == HOLO_MAP) return find_matches_map(want, t);
    rnd_bind trial = *b;
    bool fits;
    if (t->dtype >= HOLO_SEQUENCE) {      /* the pattern is that of the items */
        if (t->dim[0] == 0) return false; /* of no type that is known */
        t = t->data;
        if (trial.type['T'] != HOLO_NONE && trial.type['T'] != t->dtype) return false;
        trial.type['T'] = t->dtype;
    }
    if (strcmp(want->dims, "~") == 0) {
        fits = find_broadcasts(b, t);
    } else if (strcmp(want->dims, "=") == 0) {
        fits = t->rank == b->first_rank && find_broadcasts(b, t);
        for (int32_t k = 0; fits && k < t->rank; k++)
            fits = t->dim[k] == b->first[k];
    } else {
        fits = rnd_match(n->source, &trial, want->dims, t);
    }
    if (!fits || !rnd_fits(n->source, &trial, want->fill, t)) return false;
    *b = trial;
    return true;
}

static bool find_draw_shape(rnd_gen *n, const rnd_want *want, rnd_bind *b, int32_t *rank,
                            int64_t *dim)
{
    const bool loose = strcmp(want->dims, "~") == 0;
    if (!loose && strcmp(want->dims, "=") != 0)
        return rnd_shape(n->source, b, want->dims, rank, dim);
    const int32_t skip = loose && rnd_chance(n->source, 40)
                             ? (int32_t)rnd_below(n->source, (uint32_t)b->first_rank + 1)
                             : 0;
    *rank = b->first_rank - skip;
    for (int32_t k = 0; k < *rank; k++)
        dim[k] = loose && rnd_chance(n->source, 20) ? 1 : b->first[k + skip];
    return true;
}

/* float32 half of the time, where it is allowed; the others are as likely as each other. */
static holo_dtype find_type(rnd_gen *n, hg_types types)
{
    uint32_t count = 0;
    if ((types & HG_TYPE_BIT(HOLO_F32)) != 0 && rnd_chance(n->source, 50)) return HOLO_F32;
    for (uint32_t t = 1; t < 64; t++)
        count += (types >> t & 1) != 0;
    uint32_t pick = rnd_below(n->source, count);
    for (uint32_t t = 1; t < 64; t++)
        if ((types >> t & 1) != 0 && pick-- == 0)
            return t == 61   ? HOLO_MAP
                   : t == 62 ? HOLO_SEQUENCE
                   : t == 63 ? HOLO_OPTIONAL
                             : (holo_dtype)t;
    return HOLO_F32;
}

/* Keys are numbers from 0 in any order, or texts. */
static int32_t find_new_map(rnd_gen *n, const rnd_want *want, rnd_bind *b)
{
    const int64_t two = 2, count = rnd_below(n->source, 5), turn = rnd_below(n->source, 5);
    hg_types types[2];
    find_map_types(want->fill, types);
    holo_tensor map = rnd_tensor(&n->g->arena, HOLO_MAP, 1, &two), *pair = map.data;
    for (int k = 0; k < 2; k++)
        pair[k] = rnd_tensor(&n->g->arena, find_type(n, types[k]), 1, &count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t key = (i + turn) % count;
        if (pair[0].dtype == HOLO_STRING) {
            const hg_str text = hg_str_format(&n->g->arena, "k%lld", (long long)key);
            ((holo_string *)pair[0].data)[i] = (holo_string){text.text, text.length};
        } else {
            ((int64_t *)pair[0].data)[i] = key;
        }
    }
    rnd_fill(n->source, b, "", &pair[1]);
    return rnd_add_value(n, map, false);
}

static int32_t find_new(rnd_gen *n, const rnd_want *want, rnd_bind *b)
{
    int32_t rank;
    int64_t dim[HG_MAX_RANK];
    const holo_dtype dtype = find_type(n, want->types);
    if (dtype == HOLO_MAP) return find_new_map(n, want, b);
    if (!find_draw_shape(n, want, b, &rank, dim)) return RND_NONE;
    holo_tensor t;
    if (dtype >= HOLO_SEQUENCE) {
        if (b->type['T'] >= HOLO_SEQUENCE)
            return RND_NONE; /* items that are containers are found */
        const int64_t items = dtype == HOLO_OPTIONAL ? 1 : 1 + rnd_below(n->source, 3);
        t = rnd_tensor(&n->g->arena, dtype, 1, &items);
        if (b->type['T'] == HOLO_NONE) b->type['T'] = find_type(n, HG_TYPES_NUMBER);
        for (int64_t i = 0; i < items; i++) {
            holo_tensor *item = (holo_tensor *)t.data + i;
            *item = rnd_tensor(&n->g->arena, b->type['T'], rank, dim);
            rnd_fill(n->source, b, "", item);
        }
        return rnd_add_value(n, t, false);
    }
    t = rnd_tensor(&n->g->arena, dtype, rank, dim);
    rnd_fill(n->source, b, want->fill, &t);
    const int32_t v = rnd_add_value(n, t, rnd_chance(n->source, want->is_content ? 85 : 30));
    if (v != RND_NONE) n->g->value[v].is_pinned = want->is_content && n->g->value[v].is_const;
    return v;
}

/* The wanted value, changed into what is asked for. */
static int32_t find_from(rnd_gen *n, int32_t value, const rnd_want *want, rnd_bind *b)
{
    int32_t rank;
    int64_t dim[HG_MAX_RANK];
    rnd_bind trial = *b;
    const holo_dtype have = n->g->value[value].t.dtype;
    if (have >= HOLO_SEQUENCE || !find_draw_shape(n, want, &trial, &rank, dim)) return RND_NONE;
    const holo_dtype dtype = rnd_type_in(have, want->types) ? have : find_type(n, want->types);
    if (dtype >= HOLO_SEQUENCE) return RND_NONE;
    value = rnd_adapt(n, value, dtype, rank, dim);
    if (value != RND_NONE && !rnd_fits(n->source, &trial, want->fill, &n->g->value[value].t))
        value = find_tame(n, value, want->fill, &trial);
    if (value == RND_NONE) return RND_NONE;
    *b = trial;
    return value;
}

static int32_t find_there(rnd_gen *n, const rnd_want *want, rnd_bind *b)
{
    int32_t found = RND_NONE;
    uint32_t count = 0;
    rnd_bind chosen = *b;
    for (int32_t v = n->g->n_value - 1; v >= 0 && count < 6; v--) {
        rnd_bind trial = *b;
        if (!rnd_is_visible(n, v) || !find_matches(n, want, &trial, v)) continue;
        if (rnd_below(n->source, ++count) != 0) continue;
        found = v;
        chosen = trial;
    }
    if (found != RND_NONE) *b = chosen;
    return found;
}

int32_t rnd_find(rnd_gen *n, const rnd_want *want, rnd_bind *b)
{
    int32_t value = RND_NONE;
    if (n->wanted != RND_NONE && !n->used) {
        if (find_matches(n, want, b, n->wanted) && rnd_chance(n->source, 90)) value = n->wanted;
        if (value == RND_NONE && rnd_chance(n->source, 60))
            value = find_from(n, n->wanted, want, b);
        n->used = n->used || value != RND_NONE;
    }
    if (value == RND_NONE && rnd_chance(n->source, 45)) value = find_there(n, want, b);
    return value != RND_NONE ? value : find_new(n, want, b);
}
