/* weights.c - the weights section: deduplicated by content, packed while it is written. */
#include "base/hash.h"
#include "isa/deep.h"
#include "plan/plan.h"

static const hg_node *weights_packer(const hg_graph *g, hg_value_id value)
{
    const hg_value *v = hg_graph_value(g, value);
    return v->constant != NULL || v->node == 0 ? NULL : hg_graph_node(g, v->node);
}

/* Content, whatever its type and dimensions, and for packed weights also the operator and its
 * integer attributes. */
static uint64_t weights_key(hg_graph *g, hg_value_id value)
{
    const hg_node *n = weights_packer(g, value);
    if (n == NULL) return hg_graph_const_content(g, value);
    uint64_t key = hg_hash(n->op->name, strlen(n->op->name), 1);
    for (uint32_t i = 0; i < n->n_attr; i++)
        key = hg_hash(&n->attr[i].i, sizeof n->attr[i].i, key);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint64_t content = hg_graph_const_hash(g, hg_node_in(g, n, i));
        key = hg_hash(&content, sizeof content, key);
    }
    return key;
}

static bool weights_equal(const hg_weight *a, hg_graph *g, hg_value_id value, uint64_t key,
                          uint64_t bytes, const void *strings)
{
    if (a->key != key || a->bytes != bytes || (a->strings == NULL) != (strings == NULL))
        return false;
    if (strings != NULL) return memcmp(a->strings, strings, (size_t)bytes) == 0;
    const hg_node *na = weights_packer(a->g, a->value), *nb = weights_packer(g, value);
    if ((na == NULL) != (nb == NULL)) return false;
    hg_value_id va = na == NULL ? a->value : hg_node_in(a->g, na, 0);
    hg_value_id vb = nb == NULL ? value : hg_node_in(g, nb, 0);
    /* Hashes may collide; bytes do not lie. */
    const hg_const *ca = hg_graph_value(a->g, va)->constant, *cb = hg_graph_value(g, vb)->constant;
    return ca->bytes == cb->bytes &&
           (ca->data == cb->data || ca->bytes == 0 || memcmp(ca->data, cb->data, ca->bytes) == 0);
}

static holo_status weights_rehash(hg_weights *w)
{
    size_t n = w->n_slot == 0 ? 256 : w->n_slot * 2;
    uint32_t *slot;
    HG_TRY(HG_NEW(w->ctx, n, &slot));
    for (size_t i = 0; i < w->count; i++) {
        size_t at = w->item[i].key & (n - 1);
        while (slot[at] != 0)
            at = (at + 1) & (n - 1);
        slot[at] = (uint32_t)i + 1;
    }
    w->slot = slot;
    w->n_slot = n;
    return HOLO_OK;
}

static holo_status weights_size(hg_graph *g, hg_value_id value, uint64_t *bytes)
{
    const hg_value *v = hg_graph_value(g, value);
    if (v->constant != NULL) {
        *bytes = v->constant->bytes;
        return HOLO_OK;
    }
    size_t size;
    HG_TRY(hg_eval_bytes(g, v->node, v->index, &size));
    *bytes = size;
    return HOLO_OK;
}

/* Strings lie behind addresses: what is stored has none. */
static holo_status weights_strings(hg_graph *g, hg_value_id value, const void **out,
                                   uint64_t *bytes)
{
    const hg_value *v = hg_graph_value(g, value);
    if (v->type.dtype != HOLO_STRING || v->constant == NULL) return HOLO_OK;
    size_t count = v->constant->bytes / sizeof(holo_string);
    size_t size = hg_strings_bytes(v->constant->data, count);
    void *stored = size == SIZE_MAX ? NULL : hg_arena_alloc(&g->ctx->arena, size);
    if (stored == NULL) return hg_fail_nomem(g->ctx->error, size);
    hg_strings_store(v->constant->data, count, stored);
    *out = stored;
    *bytes = size;
    return HOLO_OK;
}

holo_status hg_weights_add(hg_weights *w, hg_graph *g, hg_value_id value, uint32_t *index)
{
    uint64_t bytes, key = weights_key(g, value);
    const void *strings = NULL;
    HG_TRY(weights_size(g, value, &bytes));
    HG_TRY(weights_strings(g, value, &strings, &bytes));
    if (w->count >= w->n_slot / 2) HG_TRY(weights_rehash(w));
    size_t at = key & (w->n_slot - 1);
    for (; w->slot[at] != 0; at = (at + 1) & (w->n_slot - 1)) {
        if (!weights_equal(&w->item[w->slot[at] - 1], g, value, key, bytes, strings)) continue;
        *index = w->slot[at] - 1;
        return HOLO_OK;
    }
    hg_weight *item = hg_arena_grow(&w->ctx->arena, w->item, w->count, &w->capacity, sizeof *item);
    if (item == NULL) return hg_fail_nomem(w->ctx->error, w->capacity * sizeof *item);
    w->item = item;
    w->item[w->count] = (hg_weight){
        .g = g, .value = value, .key = key, .offset = w->bytes, .bytes = bytes, .strings = strings};
    if (bytes > UINT64_MAX / 4 || w->bytes > UINT64_MAX / 4)
        return hg_fail(w->ctx->error, HOLO_E_LIMIT,
                       "the weights add up to more than a file can hold");
    w->bytes = (w->bytes + bytes + HG_ALIGN - 1) / HG_ALIGN * HG_ALIGN;
    w->slot[at] = (uint32_t)w->count + 1;
    *index = (uint32_t)w->count++;
    return HOLO_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Collects bytes into blocks of HG_HASH_BLOCK: each is hashed, then written. */
typedef struct weights_stream {
    hg_writer *out;
    uint8_t *block;
    size_t used;
    uint64_t hash, written;
    holo_error *e;
} weights_stream;

static holo_status weights_flush(weights_stream *s)
{
    s->hash = hg_hash(s->block, s->used, s->hash);
    s->written += s->used;
    size_t n = s->used;
    s->used = 0;
    return hg_writer_write(s->out, s->block, n, s->e);
}

/* bytes NULL: zeros. */
static holo_status weights_put(weights_stream *s, const uint8_t *bytes, uint64_t size)
{
    while (size > 0) {
        size_t n = HG_HASH_BLOCK - s->used;
        if (n > size) n = (size_t)size;
        if (bytes != NULL)
            memcpy(s->block + s->used, bytes, n);
        else
            memset(s->block + s->used, 0, n);
        s->used += n;
        size -= n;
        if (bytes != NULL) bytes += n;
        if (s->used == HG_HASH_BLOCK) HG_TRY(weights_flush(s));
    }
    return HOLO_OK;
}

/* Runs the packing into memory of its own, which is given back at once. */
static holo_status weights_put_packed(weights_stream *s, const hg_weight *item)
{
    const hg_value *v = hg_graph_value(item->g, item->value);
    const holo_allocator *alloc = &item->g->ctx->arena.alloc;
    void *base, *packed = hg_alloc_aligned(alloc, (size_t)item->bytes + 1, &base);
    if (packed == NULL) return hg_fail_nomem(s->e, (size_t)item->bytes);
    holo_status status = hg_eval_run(item->g, v->node, &packed);
    if (status == HOLO_OK) status = weights_put(s, packed, item->bytes);
    hg_free(alloc, base, (size_t)item->bytes + 1 + HG_ALIGN);
    return status;
}

static holo_status weights_put_item(weights_stream *s, const hg_weight *item)
{
    const hg_const *c = hg_graph_value(item->g, item->value)->constant;
    uint64_t padding = item->offset - (s->written + s->used);
    HG_TRY(weights_put(s, NULL, padding));
    if (item->strings != NULL) return weights_put(s, item->strings, item->bytes);
    if (c != NULL) return weights_put(s, c->data, c->bytes);
    return weights_put_packed(s, item);
}

holo_status hg_weights_write(hg_weights *w, hg_writer *out, hg_weights_progress progress,
                             void *user, uint64_t *hash)
{
    weights_stream s = {.out = out, .e = w->ctx->error};
    s.block = hg_arena_alloc(&w->ctx->arena, HG_HASH_BLOCK);
    if (s.block == NULL) return hg_fail_nomem(s.e, HG_HASH_BLOCK);
    for (size_t i = 0; i < w->count; i++) {
        HG_TRY(weights_put_item(&s, &w->item[i]));
        if (progress != NULL && !progress(user, s.written, w->bytes))
            return hg_fail(s.e, HOLO_E_CANCELLED, "cancelled while weights were written");
    }
    HG_TRY(weights_put(&s, NULL, w->bytes - (s.written + s.used)));
    if (s.used != 0 || s.written == 0) HG_TRY(weights_flush(&s));
    *hash = s.hash;
    return HOLO_OK;
}
