/* memo.c - finds an answer in a memo section; nothing in the section is trusted. */
#include "archive/memo.h"
#include "base/hash.h"

#include <string.h>

hg_memo_form hg_memo_form_of(const holo_tensor *t)
{
    hg_memo_form form = {.dtype = (uint32_t)t->dtype, .rank = (uint32_t)t->rank};
    for (int32_t k = 0; k < t->rank; k++)
        form.dim[k] = t->dim[k];
    form.bytes = holo_tensor_bytes(t);
    return form;
}

uint64_t hg_memo_hash(const holo_tensor *tensor, uint32_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        const hg_memo_form form = hg_memo_form_of(&tensor[i]);
        seed = hg_hash(&form, sizeof form, seed);
        if (form.bytes != 0) seed = hg_hash(tensor[i].data, (size_t)form.bytes, seed);
    }
    return seed;
}

size_t hg_memo_bytes(const holo_tensor *tensor, uint32_t n)
{
    size_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = holo_tensor_bytes(&tensor[i]);
        if (bytes > SIZE_MAX / 4 || all > SIZE_MAX / 4) return SIZE_MAX;
        all += sizeof(hg_memo_form) + hg_align_up(bytes, HG_MEMO_FILL);
    }
    return all;
}

uint32_t hg_memo_bucket(uint64_t hash, uint32_t n_bucket)
{
    return hg_memo_reduce((uint32_t)(hash >> 32), n_bucket);
}

uint32_t hg_memo_slot(uint64_t hash, uint32_t shift, uint32_t n_entry)
{
    uint64_t x = (hash ^ shift * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return hg_memo_reduce((uint32_t)(x >> 32), n_entry);
}

static uint64_t memo_entries_at(const hg_memo_head *h)
{
    return sizeof *h + ((uint64_t)h->n_bucket * sizeof(uint32_t) + 7) / 8 * 8;
}

holo_status hg_memo_open(const void *data, uint64_t size, hg_memo_view *out, holo_error *e)
{
    hg_memo_view v = {.data = data, .size = size};
    if (size < sizeof v.head)
        return hg_fail(e, HOLO_E_FORMAT, "%llu bytes are too few for a memo (at least %zu)",
                       (unsigned long long)size, sizeof v.head);
    memcpy(&v.head, data, sizeof v.head);
    const uint64_t entries = memo_entries_at(&v.head);
    if (v.head.n_entry == 0 || v.head.n_bucket == 0 || entries > size ||
        v.head.n_entry > (size - entries) / sizeof(hg_memo_entry))
        return hg_fail(e, HOLO_E_FORMAT,
                       "a memo of %llu bytes says it has %u entries and %u buckets",
                       (unsigned long long)size, v.head.n_entry, v.head.n_bucket);
    *out = v;
    return HOLO_OK;
}

static bool memo_holds(const hg_memo_view *v, uint64_t at, uint64_t bytes)
{
    return at <= v->size && bytes <= v->size - at;
}

bool hg_memo_take(const uint8_t **at, uint64_t *left, const holo_tensor *like, const uint8_t **data)
{
    hg_memo_form form;
    const hg_memo_form wanted = hg_memo_form_of(like);
    if (*left < sizeof form) return false;
    memcpy(&form, *at, sizeof form);
    if (memcmp(&form, &wanted, sizeof form) != 0) return false;
    const uint64_t room = *left - sizeof form;
    if (form.bytes > room || room - form.bytes < -form.bytes % HG_MEMO_FILL) return false;
    *data = *at + sizeof form;
    *at = *data + hg_align_up((size_t)form.bytes, HG_MEMO_FILL);
    *left = room - hg_align_up((size_t)form.bytes, HG_MEMO_FILL);
    return true;
}

static bool memo_is_key(const uint8_t *at, uint64_t left, const holo_tensor *key, uint32_t n)
{
    const uint8_t *data;
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = holo_tensor_bytes(&key[i]);
        if (!hg_memo_take(&at, &left, &key[i], &data)) return false;
        if (bytes != 0 && memcmp(data, key[i].data, bytes) != 0) return false;
    }
    return left == 0;
}

const uint8_t *hg_memo_find(const hg_memo_view *v, const holo_tensor *key, uint32_t n_key,
                            uint64_t hash, uint64_t *bytes)
{
    uint32_t shift;
    hg_memo_entry entry;
    const uint32_t bucket = hg_memo_bucket(hash, v->head.n_bucket);
    memcpy(&shift, v->data + sizeof v->head + (size_t)bucket * sizeof shift, sizeof shift);
    const uint32_t slot = hg_memo_slot(hash, shift, v->head.n_entry);
    memcpy(&entry, v->data + memo_entries_at(&v->head) + (size_t)slot * sizeof entry, sizeof entry);
    if (!memo_holds(v, entry.key, entry.key_bytes) ||
        !memo_holds(v, entry.value, entry.value_bytes))
        return NULL;
    if (!memo_is_key(v->data + entry.key, entry.key_bytes, key, n_key)) return NULL;
    *bytes = entry.value_bytes;
    return v->data + entry.value;
}
