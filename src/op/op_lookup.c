/* op_lookup.c - lists of keys, and the tables that kernels search. */
#include "op/op_lookup.h"
#include "kernel/lookup.h"

/* ---- reading
 * -------------------------------------------------------------------------------------------- */

static holo_status lookup_strings(hg_ctx *ctx, const hg_attr *a, hg_keys *out)
{
    holo_string *texts;
    HG_TRY(HG_NEW(ctx, a->count + 1, &texts));
    for (size_t i = 0; i < a->count; i++)
        texts[i] = (holo_string){a->strings[i].length == 0 ? "" : a->strings[i].text,
                                 a->strings[i].length};
    *out = (hg_keys){HOLO_STRING, a->count, texts};
    return HOLO_OK;
}

static holo_status lookup_tensor(const hg_infer *n, const hg_attr *a, hg_keys *out)
{
    const hg_value *v = hg_graph_value(n->g, a->tensor);
    int64_t count = 0;
    hg_dim all = hg_type_count(n->g, &v->type);
    if (v->constant == NULL || v->type.rank > 1 || !hg_dim_is_const(n->dims, all, &count))
        return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%.*s' has rank %d, expected 1",
                             HG_STR_ARG(a->name), v->type.rank);
    *out = (hg_keys){v->type.dtype, (size_t)count, v->constant->data};
    return HOLO_OK;
}

holo_status hg_keys_read(const hg_infer *n, const char *name, hg_keys *out, bool *present)
{
    const hg_attr *a = hg_node_attr(n->node, name);
    *present = a != NULL && (a->kind == HG_ATTR_TENSOR || a->count != 0);
    if (!*present) return HOLO_OK;
    switch ((int)a->kind) {
    case HG_ATTR_INTS: *out = (hg_keys){HOLO_I64, a->count, a->ints}; return HOLO_OK;
    case HG_ATTR_FLOATS: *out = (hg_keys){HOLO_F32, a->count, a->floats}; return HOLO_OK;
    case HG_ATTR_STRINGS: return lookup_strings(n->ctx, a, out);
    case HG_ATTR_TENSOR: return lookup_tensor(n, a, out);
    default: return hg_infer_fail(n, HOLO_E_MODEL, "attribute '%s' is no list and no tensor", name);
    }
}

/* ---- tables
 * -------------------------------------------------------------------------------------------- */

/* A table that grows to at most half of its slots. */
typedef struct lookup_table {
    holo_tensor keys, slots; /* keys.dim[0] of them so far */
    int64_t *place;
} lookup_table;

static holo_dtype lookup_type(holo_dtype dtype)
{
    if (dtype == HOLO_STRING) return HOLO_STRING;
    return dtype == HOLO_F32 || dtype == HOLO_F64 ? HOLO_F64 : HOLO_I64;
}

static holo_status lookup_new(hg_ctx *ctx, const hg_keys *keys, lookup_table *out)
{
    int64_t slots = 4;
    holo_string *data; /* the largest of the three types */
    int32_t *slot;
    while (slots < 2 * (int64_t)keys->count)
        slots *= 2;
    if (keys->count > INT32_MAX / 4)
        return hg_fail(ctx->error, HOLO_E_LIMIT, "a list has %zu keys", keys->count);
    HG_TRY(HG_NEW(ctx, keys->count + 1, &data));
    HG_TRY(HG_NEW(ctx, (size_t)slots, &slot));
    HG_TRY(HG_NEW(ctx, keys->count + 1, &out->place));
    out->keys = (holo_tensor){.data = data, .rank = 1, .dtype = lookup_type(keys->dtype)};
    out->slots = (holo_tensor){.data = slot, .rank = 1, .dim = {slots}, .dtype = HOLO_I32};
    return HOLO_OK;
}

/* The number of the key, which is the last one when it was not there; -1: too many are like it. */
static int64_t lookup_add(lookup_table *t, const hg_wanted *w)
{
    const int64_t n = t->keys.dim[0];
    int64_t free;
    const int64_t found = hg_table_find(&t->keys, &t->slots, w, &free);
    if (found >= 0 || free < 0) return found;
    ((int32_t *)t->slots.data)[free] = (int32_t)(n + 1);
    t->keys.dim[0]++;
    if (t->keys.dtype == HOLO_STRING)
        ((holo_string *)t->keys.data)[n] = *w->text;
    else if (t->keys.dtype == HOLO_F64)
        ((double *)t->keys.data)[n] = w->number;
    else
        ((int64_t *)t->keys.data)[n] = w->integer;
    return n;
}

/* Chance does not do that. */
static holo_status lookup_collides(const hg_ctx *ctx, int64_t i)
{
    return hg_fail(ctx->error, HOLO_E_LIMIT,
                   "key %lld is one of more than %d with the same place in the table of keys",
                   (long long)i, HG_TABLE_PROBES);
}

static holo_tensor lookup_list(const hg_keys *keys)
{
    return (holo_tensor){.data = (void *)(uintptr_t)keys->data,
                         .dim = {(int64_t)keys->count},
                         .rank = 1,
                         .dtype = keys->dtype};
}

static hg_value_id lookup_constant(hg_build *b, const holo_tensor *t)
{
    hg_type type = {.dtype = t->dtype, .rank = 1};
    type.dim[0] = hg_dim_const(&b->g->dims, t->dim[0]);
    return hg_build_const(b, type, t->data, holo_tensor_bytes(t));
}

holo_status hg_keys_table(hg_build *b, const hg_keys *keys, hg_table *out)
{
    const holo_tensor list = lookup_list(keys);
    lookup_table t;
    HG_TRY(lookup_new(b->ctx, keys, &t));
    for (int64_t i = 0; i < list.dim[0]; i++) {
        const hg_wanted w = hg_wanted_at(&list, i, t.keys.dtype);
        const int64_t n = lookup_add(&t, &w);
        if (n < 0) return lookup_collides(b->ctx, i);
        t.place[n] = i;
    }
    out->keys = lookup_constant(b, &t.keys);
    out->slots = lookup_constant(b, &t.slots);
    out->place = hg_build_ints(b, t.place, (uint32_t)t.keys.dim[0]);
    return b->status;
}

holo_status hg_keys_last(hg_ctx *ctx, const hg_keys *keys, int64_t **out)
{
    const holo_tensor list = lookup_list(keys);
    lookup_table t;
    HG_TRY(lookup_new(ctx, keys, &t));
    HG_TRY(HG_NEW(ctx, keys->count + 1, out));
    for (int64_t i = list.dim[0]; i-- > 0;) {
        const hg_wanted w = hg_wanted_at(&list, i, t.keys.dtype);
        const int64_t known = t.keys.dim[0], n = lookup_add(&t, &w);
        if (n < 0) return lookup_collides(ctx, i);
        if (n == known) t.place[n] = i;
        (*out)[i] = t.place[n];
    }
    return HOLO_OK;
}

static hg_value_id lookup_node(hg_build *b, hg_value_id x, const hg_table *t, int64_t other,
                               bool strict)
{
    const hg_attr attr[] = {hg_attr_make_int("other", other),
                            hg_attr_make_int("strict", strict ? 1 : 0)};
    hg_value_id in[4] = {x, t->keys, t->slots, t->place};
    return hg_build_op(b, "holo:Lookup", in, 4, attr, 2);
}

hg_value_id hg_keys_find(hg_build *b, hg_value_id x, const hg_keys *keys, bool strict)
{
    hg_table t = {0};
    if (b->status == HOLO_OK) b->status = hg_keys_table(b, keys, &t);
    return lookup_node(b, x, &t, (int64_t)keys->count, strict);
}

hg_value_id hg_keys_say(hg_build *b, hg_value_id x, const hg_keys *keys, const int64_t *said,
                        int64_t other)
{
    const hg_attr axis = hg_attr_make_int("axis", 0);
    hg_table t = {0};
    if (b->status == HOLO_OK) b->status = hg_keys_table(b, keys, &t);
    const hg_value_id in[2] = {hg_build_ints(b, said, (uint32_t)keys->count), t.place};
    t.place = hg_build_op(b, "Gather", in, 2, &axis, 1); /* folded */
    return lookup_node(b, x, &t, other, false);
}
