/* memo.h - results that a file carries: section HG_SECTION_MEMO, one for each graph that has any.
 *
 *   0          hg_memo_head
 *   32         uint32 shift[n_bucket]             filled up to a multiple of 8 bytes
 *   then       hg_memo_entry entry[n_entry]
 *   anywhere   keys and values: records of tensors, hg_memo_form and then their bytes, filled up to
 *              a multiple of 16
 *
 * A minimal perfect hash finds the only entry that can match: the upper half of the key's hash
 * picks a bucket, whose shift mixed with the hash picks the entry. The key is the whole input,
 * stored and compared, so two inputs never share an answer. Sections are read where they lie; every
 * place in them is checked when it is used. */
#ifndef HG_ARCHIVE_MEMO_H
#define HG_ARCHIVE_MEMO_H

#include "base/error.h"

typedef struct hg_memo_head {
    uint32_t graph;
    uint32_t n_entry, n_bucket; /* at least 1 each */
    uint32_t zero;
    uint64_t seed; /* of the hash of keys */
    uint64_t reserved;
} hg_memo_head;

typedef struct hg_memo_entry {
    uint64_t key, key_bytes; /* from the start of the section */
    uint64_t value, value_bytes;
} hg_memo_entry;

/* What a tensor is, in front of its bytes; dims behind the rank are 0. */
typedef struct hg_memo_form {
    uint32_t dtype, rank;
    int64_t dim[HG_MAX_RANK];
    uint64_t bytes;
} hg_memo_form;

_Static_assert(sizeof(hg_memo_head) == 32, "head layout");
_Static_assert(sizeof(hg_memo_entry) == 32, "entry layout");
_Static_assert(sizeof(hg_memo_form) == 80, "form layout");

enum { HG_MEMO_FILL = 16 };

hg_memo_form hg_memo_form_of(const holo_tensor *t);
/* Of forms and bytes of n tensors. */
uint64_t hg_memo_hash(const holo_tensor *tensor, uint32_t n, uint64_t seed);
/* Bytes of the records of n tensors; SIZE_MAX when that cannot be represented. */
size_t hg_memo_bytes(const holo_tensor *tensor, uint32_t n);

static inline uint32_t hg_memo_reduce(uint32_t x, uint32_t n)
{
    return (uint32_t)((uint64_t)x * n >> 32);
}

uint32_t hg_memo_bucket(uint64_t hash, uint32_t n_bucket);
uint32_t hg_memo_slot(uint64_t hash, uint32_t shift, uint32_t n_entry);

/* A section: what its head says has been checked against its size. */
typedef struct hg_memo_view {
    const uint8_t *data;
    uint64_t size;
    hg_memo_head head;
} hg_memo_view;

HG_MUST_CHECK holo_status hg_memo_open(const void *data, uint64_t size, hg_memo_view *out,
                                       holo_error *e);
/* The records of the answer for a key, NULL when there is none. */
const uint8_t *hg_memo_find(const hg_memo_view *v, const holo_tensor *key, uint32_t n_key,
                            uint64_t hash, uint64_t *bytes);
/* Takes one tensor from records: true when it has the form of `like`, and *data are its bytes. */
bool hg_memo_take(const uint8_t **at, uint64_t *left, const holo_tensor *like,
                  const uint8_t **data);

#endif
