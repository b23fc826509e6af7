/* op_attention.h - pieces of scaled dot product attention. */
#ifndef HG_OP_OP_ATTENTION_H
#define HG_OP_OP_ATTENTION_H

#include "op/op.h"

/* Which keys a query may attend; what is absent is 0 (values) or negative (windows). */
typedef struct hg_attention_mask {
    hg_dim queries, keys;
    hg_dim past;         /* keys before the first query */
    hg_value_id lengths; /* [B] int64: keys that are no padding; replaces `past` */
    hg_value_id mask;    /* bool: may attend; float: added */
    int64_t left, right; /* how far back and ahead a query sees; -1: no bound */
    bool is_causal;
    holo_dtype dtype; /* of the bias */
} hg_attention_mask;

/* What is added to the scores, minus infinity where a query may not attend; 0 when nothing is. It
 * broadcasts to [B, heads, queries, keys]. */
hg_value_id hg_build_attention_bias(hg_build *b, const hg_attention_mask *m);

#endif
