/* memo.h - what a memo is, and the store that it grows: chunks of one size in a fixed block,
 * chained into entries; the entry used longest ago makes room. */
#ifndef HG_RUNTIME_MEMO_H
#define HG_RUNTIME_MEMO_H

#include "archive/memo.h"
#include "runtime/session.h"

enum { HG_MEMO_CHUNK = 1024 };

typedef struct hg_memo_item {
    uint64_t hash;
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
uint32_t hg_memo_store_find(hg_memo_store *s, uint64_t hash, const holo_tensor *key, uint32_t n);
/* Room for a new entry, oldest ones go; 0 when it can never fit. */
uint32_t hg_memo_store_add(hg_memo_store *s, uint64_t hash, size_t key_bytes, size_t value_bytes);
hg_memo_cursor hg_memo_store_open(const hg_memo_store *s, uint32_t item);
void hg_memo_store_skip(const hg_memo_store *s, hg_memo_cursor *c, size_t bytes);
void hg_memo_store_put(hg_memo_store *s, hg_memo_cursor *c, const holo_tensor *t);
/* The next record, whose form is known. */
void hg_memo_store_get(const hg_memo_store *s, hg_memo_cursor *c, holo_tensor *t);
/* The next record has the form of this tensor. */
bool hg_memo_store_is_form(const hg_memo_store *s, hg_memo_cursor c, const holo_tensor *t);

/* Called through the pointer, so that programs without a memo do not link one. */
struct holo_memo {
    holo_status (*run)(holo_memo *memo, holo_session *s, holo_error *e);
    const holo_model *model;
    uint32_t graph;
    hg_memo_view stored; /* of the file; no data: none */
    hg_memo_store store;
    holo_memo_stats stats;
    holo_allocator alloc;
    void *base; /* what to free; NULL: the caller's memory */
    size_t base_bytes;
};

#endif
