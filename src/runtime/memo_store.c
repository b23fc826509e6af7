/* memo_store.c - the part of a memo that grows: a fixed block, least recently used entries go. */
#include "runtime/memo_store.h"

#include "base/base.h"

#include <string.h>

/* What a chunk costs with its share of the tables. */
enum {
    MEMO_SHARE = HG_MEMO_CHUNK + (int)sizeof(hg_memo_item) + 2 * (int)sizeof(uint32_t),
    MEMO_ROOM = 4 * HG_ALIGN /* for the alignment of four arrays */
};

void hg_memo_store_init(hg_memo_store *s, void *memory, size_t bytes)
{
    *s = (hg_memo_store){0};
    size_t count = bytes <= MEMO_ROOM ? 0 : (bytes - MEMO_ROOM) / MEMO_SHARE;
    if (count > UINT32_MAX - 2) count = UINT32_MAX - 2;
    if (count == 0) return;
    uint8_t *at = memory;
    s->chunk = at;
    at += count * HG_MEMO_CHUNK;
    s->item = (hg_memo_item *)(void *)at;
    at += hg_align_up(count * sizeof *s->item, HG_ALIGN);
    s->bucket = (uint32_t *)(void *)at;
    at += hg_align_up(count * sizeof *s->bucket, HG_ALIGN);
    s->next_chunk = (uint32_t *)(void *)at;
    s->count = (uint32_t)count;
    s->n_free = s->count;
    s->free_chunk = s->free_item = 1;
    memset(s->bucket, 0, count * sizeof *s->bucket);
    memset(s->item, 0, count * sizeof *s->item);
    for (uint32_t i = 0; i < s->count; i++)
        s->next_chunk[i] = s->item[i].next = i + 1 == s->count ? 0 : i + 2;
}

/* ---- order of use ---------------------------------------------------------------------------- */

static void store_unlink(hg_memo_store *s, uint32_t id)
{
    const hg_memo_item *it = &s->item[id - 1];
    *(it->older == 0 ? &s->oldest : &s->item[it->older - 1].newer) = it->newer;
    *(it->newer == 0 ? &s->newest : &s->item[it->newer - 1].older) = it->older;
}

static void store_make_newest(hg_memo_store *s, uint32_t id)
{
    hg_memo_item *it = &s->item[id - 1];
    it->older = s->newest;
    it->newer = 0;
    *(s->newest == 0 ? &s->oldest : &s->item[s->newest - 1].newer) = id;
    s->newest = id;
}

static uint32_t *store_bucket(hg_memo_store *s, uint64_t hash)
{
    return &s->bucket[hg_memo_bucket(hash, s->count)];
}

void hg_memo_store_drop(hg_memo_store *s, uint32_t id)
{
    hg_memo_item *it = &s->item[id - 1];
    uint32_t *link = store_bucket(s, it->hash), last = it->chunk;
    while (*link != id)
        link = &s->item[*link - 1].next;
    *link = it->next;
    store_unlink(s, id);
    s->n_free++;
    for (; s->next_chunk[last - 1] != 0; s->n_free++)
        last = s->next_chunk[last - 1];
    s->next_chunk[last - 1] = s->free_chunk;
    s->free_chunk = it->chunk;
    it->next = s->free_item;
    s->free_item = id;
    s->n_item--;
}

static size_t store_chunks(size_t bytes)
{
    return bytes / HG_MEMO_CHUNK + (bytes % HG_MEMO_CHUNK != 0 || bytes == 0);
}

static uint32_t store_chunks_of(const hg_memo_item *it)
{
    return (uint32_t)store_chunks(it->key_bytes + it->value_bytes);
}

void hg_memo_store_hold(hg_memo_store *s, uint32_t item)
{
    store_unlink(s, item);
    s->n_held += store_chunks_of(&s->item[item - 1]);
}

void hg_memo_store_release(hg_memo_store *s, uint32_t item)
{
    s->n_held -= store_chunks_of(&s->item[item - 1]);
    store_make_newest(s, item);
}

static void store_add_key(hg_memo_store *s, uint32_t id, const hg_memo_key *key)
{
    hg_memo_cursor c = {.chunk = s->item[id - 1].chunk};
    for (uint32_t i = 0; i < key->n; i++)
        hg_memo_store_put(s, &c, &key->tensor[i]);
}

uint32_t hg_memo_store_add(hg_memo_store *s, const hg_memo_key *key, size_t value_bytes)
{
    const size_t key_bytes = hg_memo_bytes(key->tensor, key->n);
    size_t all;
    if (!hg_add_size(key_bytes, value_bytes, &all)) return 0;
    const size_t chunks = store_chunks(all);
    if (chunks > s->count - s->n_held) return 0;
    for (; s->n_free < chunks; s->evicted++)
        hg_memo_store_drop(s, s->oldest);
    const uint32_t id = s->free_item;
    hg_memo_item *it = &s->item[id - 1];
    s->free_item = it->next;
    uint32_t last = s->free_chunk;
    *it = (hg_memo_item){.hash = key->hash,
                         .set = key->set,
                         .key_bytes = key_bytes,
                         .value_bytes = value_bytes,
                         .chunk = last};
    for (size_t i = 1; i < chunks; i++)
        last = s->next_chunk[last - 1];
    s->free_chunk = s->next_chunk[last - 1];
    s->next_chunk[last - 1] = 0;
    s->n_free -= (uint32_t)chunks;
    uint32_t *bucket = store_bucket(s, key->hash);
    it->next = *bucket;
    *bucket = id;
    store_make_newest(s, id);
    s->n_item++;
    store_add_key(s, id, key);
    return id;
}

/* ---- contents -------------------------------------------------------------------------------- */

/* The next bytes that lie side by side, at most *bytes of them. */
static uint8_t *store_piece(const hg_memo_store *s, hg_memo_cursor *c, size_t *bytes)
{
    if (c->at == HG_MEMO_CHUNK) *c = (hg_memo_cursor){.chunk = s->next_chunk[c->chunk - 1]};
    uint8_t *p = s->chunk + (size_t)(c->chunk - 1) * HG_MEMO_CHUNK + c->at;
    *bytes = (size_t)hg_min((int64_t)*bytes, (int64_t)(HG_MEMO_CHUNK - c->at));
    c->at += *bytes;
    return p;
}

void hg_memo_store_skip(const hg_memo_store *s, hg_memo_cursor *c, size_t bytes)
{
    for (size_t n = bytes; bytes > 0; bytes -= n, n = bytes)
        (void)store_piece(s, c, &n);
}

hg_memo_cursor hg_memo_store_value(const hg_memo_store *s, uint32_t item)
{
    hg_memo_cursor c = {.chunk = s->item[item - 1].chunk};
    hg_memo_store_skip(s, &c, s->item[item - 1].key_bytes);
    return c;
}

static void store_write(hg_memo_store *s, hg_memo_cursor *c, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    for (size_t n = bytes; bytes > 0; bytes -= n, from += n, n = bytes) {
        uint8_t *p = store_piece(s, c, &n);
        memcpy(p, from, n);
    }
}

static void store_read(const hg_memo_store *s, hg_memo_cursor *c, void *data, size_t bytes)
{
    uint8_t *to = data;
    for (size_t n = bytes; bytes > 0; bytes -= n, to += n, n = bytes) {
        const uint8_t *p = store_piece(s, c, &n);
        memcpy(to, p, n);
    }
}

static bool store_equal(const hg_memo_store *s, hg_memo_cursor *c, const void *data, size_t bytes)
{
    const uint8_t *with = data;
    for (size_t n = bytes; bytes > 0; bytes -= n, with += n, n = bytes) {
        const uint8_t *p = store_piece(s, c, &n);
        if (memcmp(p, with, n) != 0) return false;
    }
    return true;
}

void hg_memo_store_put(hg_memo_store *s, hg_memo_cursor *c, const holo_tensor *t)
{
    const hg_memo_form form = hg_memo_form_of(t);
    store_write(s, c, &form, sizeof form);
    store_write(s, c, t->data, (size_t)form.bytes);
    hg_memo_store_skip(s, c, hg_align_up((size_t)form.bytes, HG_MEMO_FILL) - (size_t)form.bytes);
}

void hg_memo_store_get(const hg_memo_store *s, hg_memo_cursor *c, holo_tensor *t)
{
    const size_t bytes = holo_tensor_bytes(t);
    hg_memo_store_skip(s, c, sizeof(hg_memo_form));
    store_read(s, c, t->data, bytes);
    hg_memo_store_skip(s, c, hg_align_up(bytes, HG_MEMO_FILL) - bytes);
}

hg_memo_form hg_memo_store_form(const hg_memo_store *s, hg_memo_cursor c)
{
    hg_memo_form form;
    store_read(s, &c, &form, sizeof form);
    return form;
}

bool hg_memo_store_is_form(const hg_memo_store *s, hg_memo_cursor c, const holo_tensor *t)
{
    const hg_memo_form form = hg_memo_form_of(t);
    return store_equal(s, &c, &form, sizeof form);
}

static bool store_is_key(const hg_memo_store *s, const hg_memo_item *it, const hg_memo_key *key)
{
    hg_memo_cursor c = {.chunk = it->chunk};
    if (it->hash != key->hash || it->set != key->set ||
        it->key_bytes != hg_memo_bytes(key->tensor, key->n))
        return false;
    for (uint32_t i = 0; i < key->n; i++) {
        const hg_memo_form form = hg_memo_form_of(&key->tensor[i]);
        if (!store_equal(s, &c, &form, sizeof form) ||
            !store_equal(s, &c, key->tensor[i].data, (size_t)form.bytes))
            return false;
        hg_memo_store_skip(s, &c,
                           hg_align_up((size_t)form.bytes, HG_MEMO_FILL) - (size_t)form.bytes);
    }
    return true;
}

uint32_t hg_memo_store_find(hg_memo_store *s, const hg_memo_key *key)
{
    if (s->count == 0) return 0;
    for (uint32_t id = *store_bucket(s, key->hash); id != 0; id = s->item[id - 1].next) {
        if (!store_is_key(s, &s->item[id - 1], key)) continue;
        store_unlink(s, id);
        store_make_newest(s, id);
        return id;
    }
    return 0;
}
