/* op_kvcodes.h - caches of keys and values that hold codes instead of numbers.
 *
 * A number is its code times a scale. Codes of 8 bits are signed; of 4 bits two lie in a byte, the
 * even column in the low half, each with 8 added. */
#ifndef HG_OP_OP_KVCODES_H
#define HG_OP_OP_KVCODES_H

#include "op/op.h"

typedef struct hg_kv_codes {
    int64_t bits;      /* 8 or 4; 0: numbers, no codes */
    bool by_channel;   /* a scale for each column of each head, else one for all */
    holo_dtype stored; /* int8 or uint8: the bytes are the same */
    hg_dim heads, size;
} hg_kv_codes;

/* Columns of a row of the cache. */
hg_dim hg_kv_columns(hg_dims *d, const hg_kv_codes *c);
/* x, [B, heads, rows, size], as codes: rounded to the nearest, ties to even; a scale of 0 is 1. */
hg_value_id hg_build_kv_encode(hg_build *b, const hg_kv_codes *c, hg_value_id x, hg_value_id scale);
/* The numbers of a cache, of type dtype. */
hg_value_id hg_build_kv_decode(hg_build *b, const hg_kv_codes *c, hg_value_id codes,
                               hg_value_id scale, holo_dtype dtype);

#endif
