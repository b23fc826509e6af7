/* op_lookup.h - lists of keys that operators look elements up in. */
#ifndef HG_OP_OP_LOOKUP_H
#define HG_OP_OP_LOOKUP_H

#include "op/op.h"

/* Values or keys of one type; `data` as in a tensor, texts as holo_string. */
typedef struct hg_keys {
    holo_dtype dtype;
    size_t count;
    const void *data;
} hg_keys;

/* From a list attribute (integers, floats, strings) or a constant tensor, a vector or a scalar.
 * Not present when the attribute is absent or an empty list. */
HG_MUST_CHECK holo_status hg_keys_read(const hg_infer *n, const char *name, hg_keys *out,
                                       bool *present);

/* A table of the keys (kernel/lookup.h) as constants, and the place of each key; of equal keys the
 * last counts. */
typedef struct hg_table {
    hg_value_id keys, slots, place;
} hg_table;
HG_MUST_CHECK holo_status hg_keys_table(hg_build *b, const hg_keys *keys, hg_table *out);

/* For each key the place of the last that is equal to it. */
HG_MUST_CHECK holo_status hg_keys_last(hg_ctx *ctx, const hg_keys *keys, int64_t **out);

/* For each element of x the place of the last key that is equal to it, keys->count when there is
 * none; then it may be an error at run time (strict). */
hg_value_id hg_keys_find(hg_build *b, hg_value_id x, const hg_keys *keys, bool strict);
/* The same, but said[place] instead of the place, and `other` when there is none. */
hg_value_id hg_keys_say(hg_build *b, hg_value_id x, const hg_keys *keys, const int64_t *said,
                        int64_t other);

#endif
