/* op_mha.h - what the attention operators of com.microsoft share: masks of integers and caches. */
#ifndef HG_OP_OP_MHA_H
#define HG_OP_OP_MHA_H

#include "op/op_scores.h"

typedef struct hg_mha {
    hg_dim batch, queries, size, v_size;
    int64_t heads;
    hg_dim now;  /* new keys */
    hg_dim past; /* keys before them */
    hg_dim most; /* size of a cache that is larger than what it holds; 0: it is not */
    /* Int32 [groups, beams, most]: the beam of the same group whose row each place of the past is
     * read from, when there is one query; 0: each reads its own. */
    hg_value_id beams;
} hg_mha;

/* Number of heads, from an attribute: at least 1. */
HG_MUST_CHECK holo_status hg_mha_heads(const hg_infer *n, const char *name, int64_t *heads);
/* Attributes mask_filter_value, scale and unidirectional. */
HG_MUST_CHECK holo_status hg_mha_check(const hg_infer *n);
/* `columns` divided into heads, which must leave nothing over. */
HG_MUST_CHECK holo_status hg_mha_divide(const hg_infer *n, hg_dim columns, int64_t heads,
                                        hg_dim *size);
/* past + now */
hg_dim hg_mha_total(hg_dims *d, const hg_mha *m);
/* What the integers of `mask` forbid plus `bias`, added to scores; either may be 0. A mask is, with
 * lengths counted from the first key: [B] lengths; [2 B] ends, then beginnings; [3 B + 2] lengths
 * first; [B, T], [B, S, T] or [B, 1, M, M] where 0 forbids. */
hg_value_id hg_build_mha_bias(hg_build *b, const hg_mha *m, hg_value_id mask, hg_value_id bias);
/* New keys or values behind those of the past, [B, heads, past + now, size]; *present is what the
 * next call gets, of the size of the cache. */
hg_value_id hg_build_mha_cache(hg_build *b, const hg_mha *m, hg_value_id past, hg_value_id now,
                               hg_value_id *present);
/* The attention itself; q, k, v are by heads, the result is [B, S, heads v_size]. *scores, if not
 * NULL, is what the softmax reads. */
hg_value_id hg_build_mha(hg_build *b, const hg_mha *m, const hg_value_id qkv[3], hg_value_id bias,
                         hg_value_id *scores);

#endif
