/* deep.h - tensors that hold more than their elements: strings and containers.
 *
 * Behind the elements of a STRING tensor lies text, behind those of a SEQUENCE, OPTIONAL or MAP lie
 * other tensors. A deep copy of such a value is one piece of memory: elements first, then `extra`
 * bytes for all that they point to, at the next multiple of HG_ALIGN. */
#ifndef HG_ISA_DEEP_H
#define HG_ISA_DEEP_H

#include "base/dtype.h"
#include "base/error.h"

enum { HG_DEEP_MAX = 8 /* containers inside each other */ };

static inline bool hg_is_container(holo_dtype dtype)
{
    return dtype == HOLO_SEQUENCE || dtype == HOLO_OPTIONAL || dtype == HOLO_MAP;
}

/* Its elements point to something. */
static inline bool hg_is_deep(holo_dtype dtype)
{
    return dtype == HOLO_STRING || hg_is_container(dtype);
}

/* Types, ranks, dims and addresses make sense to the depth of HG_DEEP_MAX. */
HG_MUST_CHECK holo_status hg_deep_check(const holo_tensor *t, holo_error *e);
/* Bytes that a copy needs behind its elements; SIZE_MAX when that cannot be represented. */
size_t hg_deep_extra(const holo_tensor *t);
/* Bytes of a copy in one piece: elements, then extra; SIZE_MAX likewise. */
size_t hg_deep_bytes(const holo_tensor *t);
/* Where the extra bytes of such a piece begin. */
uint8_t *hg_deep_behind(const holo_tensor *t);

/* Constant strings in a file: a count, as many places (offset from the count's, length), then text.
 */
typedef struct hg_stored_string {
    uint64_t offset, length;
} hg_stored_string;
/* Bytes of `count` strings in that form; SIZE_MAX likewise. */
size_t hg_strings_bytes(const holo_string *s, size_t count);
void hg_strings_store(const holo_string *s, size_t count, void *out);
/* How many strings `bytes` bytes at an 8-byte aligned address hold; E_FORMAT when they are no
 * strings. */
HG_MUST_CHECK holo_status hg_strings_count(const void *data, uint64_t bytes, uint64_t *count,
                                           holo_error *e);
/* The strings; their text stays where it is. False when they changed since they were counted. */
HG_MUST_CHECK bool hg_strings_load(const void *data, uint64_t bytes, uint64_t count,
                                   holo_string *out);

/* Room that fills up. */
typedef struct hg_room {
    uint8_t *at;
    size_t left;
} hg_room;

/* The next `bytes` bytes, aligned to 16; NULL when there is not enough left. */
void *hg_room_take(hg_room *room, size_t bytes);
/* Copies a tensor: to->data takes the elements (holo_tensor_bytes of them), room what they point
 * to. False when the room is too small; `to` is then not to be read. */
HG_MUST_CHECK bool hg_deep_copy(const holo_tensor *from, holo_tensor *to, hg_room *room);
/* The same with elements in the room too. */
HG_MUST_CHECK bool hg_deep_copy_all(const holo_tensor *from, holo_tensor *to, hg_room *room);
/* Bytes that hg_deep_copy_all takes. */
size_t hg_deep_all(const holo_tensor *t);
/* A piece made by hg_deep_copy_all was moved: every address in it grows by `distance`. */
void hg_deep_move(holo_tensor *t, ptrdiff_t distance);

#endif
