/* op_attention.h - pieces of scaled dot product attention.
 *
 * Queries are [B, QH, S, D], keys and values [B, H, T, D]. With QH = r H the r queries of a head
 * lie side by side, so products are made on [B, H, r S, D] and nothing is repeated. */
#ifndef HG_OP_OP_ATTENTION_H
#define HG_OP_OP_ATTENTION_H

#include "kernel/attention.h"
#include "op/op.h"

typedef struct hg_attention_shape {
    hg_dim batch, q_heads, heads, queries, keys, past, size, v_size; /* keys: with past */
} hg_attention_shape;

/* Products of queries and keys [B, QH, S, T], times *scale or, when it is NULL, 1 / sqrt(D). */
hg_value_id hg_build_attention_scores(hg_build *b, const hg_attention_shape *s, hg_value_id q,
                                      hg_value_id k, const double *scale);
/* Probabilities [B, QH, S, T] times values, in the type of the probabilities. */
hg_value_id hg_build_attention_mix(hg_build *b, const hg_attention_shape *s, hg_value_id p,
                                   hg_value_id v);

/* Which keys a query may attend; what is absent is 0 (values) or negative (windows). */
typedef struct hg_attention_mask {
    hg_dim queries, keys;
    hg_dim past;         /* keys before the first query */
    hg_value_id lengths; /* [B] int64: keys that are no padding; replaces `past` */
    hg_value_id places;  /* int64, broadcasts to [B, 1, queries, 1]: each query's; replaces both */
    hg_value_id mask;    /* bool: may attend; float: added */
    int64_t left, right; /* how far back and ahead a query sees; -1: no bound */
    bool is_causal;
    holo_dtype dtype; /* of the bias */
} hg_attention_mask;

/* What is added to the scores, minus infinity where a query may not attend; 0 when nothing is. It
 * broadcasts to [B, heads, queries, keys]. */
hg_value_id hg_build_attention_bias(hg_build *b, const hg_attention_mask *m);
/* int64: a dimension as a scalar; 0, 1, 2 ... count - 1. */
hg_value_id hg_build_dim(hg_build *b, hg_dim dim);
hg_value_id hg_build_range(hg_build *b, hg_dim count);

/* One holo:Attention; the fields are its attributes and inputs, in the order of kernel/attention.h.
 */
typedef struct hg_attention_spec {
    hg_value_id in[5];
    hg_dim size[7];
    hg_dim view[3][5];
    double scale, fill;
    int64_t drops, empty, by_row;
} hg_attention_spec;

hg_value_id hg_build_attention(hg_build *b, const hg_attention_spec *s);

#endif
