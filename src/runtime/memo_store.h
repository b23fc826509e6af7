/* memo_store.h - the store that a memo grows: chunks of one size in a fixed block, chained into
 * entries; the entry used longest ago makes room. */
#ifndef HG_RUNTIME_MEMO_STORE_H
#define HG_RUNTIME_MEMO_STORE_H

#include "archive/memo.h"

enum { HG_MEMO_CHUNK = 1024 };

/* What an entry answers: n inputs, forms and bytes. `set` says which they are, so that keys of
 * parts of a run and of runs as a whole differ. */
typedef struct hg_memo_key {
    uint64_t hash, set;
    const holo_tensor *tensor;
    uint32_t n;
} hg_memo_key;

#define HG_MEMO_WHOLE UINT64_MAX

typedef struct hg_memo_item {
    uint64_t hash, set;
    size_t key_bytes, value_bytes;
    uint32_t chunk;        /* first + 1 */
    uint32_t next;         /* of the same bucket, + 1; or of the free ones */
    uint32_t older, newer; /* + 1 */
} hg_memo_item;

/* Numbers are + 1, so that 0 is none. There are as many items and buckets as chunks: an entry takes
 * at least one. */
typedef struct hg_memo_store {
    hg_memo_item *item;
    uint32_t *bucket;     /* first item */
    uint32_t *next_chunk; /* of the same entry, or of the free ones */
    uint8_t *chunk;
    uint32_t count; /* of chunks */
    uint32_t free_item, free_chunk, n_free;
    uint32_t oldest, newest, n_item;
    uint32_t n_held; /* chunks of entries that stay for now */
    uint64_t evicted;
} hg_memo_store;

/* Where reading or writing goes on in an entry. */
typedef struct hg_memo_cursor {
    uint32_t chunk; /* + 1 */
    size_t at;      /* in it */
} hg_memo_cursor;

/* Lays the store out in memory (HG_ALIGN); too little makes an empty one. */
void hg_memo_store_init(hg_memo_store *s, void *memory, size_t bytes);
/* The entry of a key, made the newest; 0: none. */
uint32_t hg_memo_store_find(hg_memo_store *s, const hg_memo_key *key);
/* A new entry with its key, oldest ones go; 0 when it does not fit. */
uint32_t hg_memo_store_add(hg_memo_store *s, const hg_memo_key *key, size_t value_bytes);
/* An entry that is held is not the one that goes; released it is the newest. */
void hg_memo_store_hold(hg_memo_store *s, uint32_t item);
void hg_memo_store_release(hg_memo_store *s, uint32_t item);
/* Forgets an entry that is not held. */
void hg_memo_store_drop(hg_memo_store *s, uint32_t item);
/* The answer of an entry. */
hg_memo_cursor hg_memo_store_value(const hg_memo_store *s, uint32_t item);
void hg_memo_store_skip(const hg_memo_store *s, hg_memo_cursor *c, size_t bytes);
void hg_memo_store_put(hg_memo_store *s, hg_memo_cursor *c, const holo_tensor *t);
/* The next record, whose form is known. */
void hg_memo_store_get(const hg_memo_store *s, hg_memo_cursor *c, holo_tensor *t);
/* What the next record is; whether it has the form of this tensor. */
hg_memo_form hg_memo_store_form(const hg_memo_store *s, hg_memo_cursor c);
bool hg_memo_store_is_form(const hg_memo_store *s, hg_memo_cursor c, const holo_tensor *t);

#endif
