/* op_scores.h - attention step by step: the matrix of scores and what becomes of it. */
#ifndef HG_OP_OP_SCORES_H
#define HG_OP_OP_SCORES_H

#include "op/op_attention.h"

/* What becomes of the scores, in this order. */
enum { HG_SCORES_RAW, HG_SCORES_CAPPED, HG_SCORES_BIASED, HG_SCORES_SOFTMAX };

/* softmax(Q K' scale + bias) V */
typedef struct hg_scores {
    hg_attention_shape shape;
    hg_value_id q, k, v;  /* by heads, keys and values with those of the past */
    hg_value_id bias;     /* broadcasts to [B, QH, S, T]; 0: none */
    hg_value_id sink;     /* one more score for each row: broadcasts to [B, QH, S, 1]; 0: none */
    const double *scale;  /* NULL: 1 / sqrt(D) */
    double softcap;       /* 0: none */
    holo_dtype precision; /* of the softmax; NONE: that of q */
    bool has_empty_rows;  /* rows whose every bias is minus infinity are 0 */
    bool is_wide;         /* floats of 16 bits are computed in float32 and rounded once */
    bool is_flat;         /* the result is [B, S, QH D], else [B, QH, S, D] */
    hg_value_id stage[4]; /* result: the scores at each stage */
} hg_scores;

hg_value_id hg_build_scores(hg_build *b, hg_scores *a);
/* [B, S, heads * size] as [B, heads, S, size]. */
hg_value_id hg_build_heads(hg_build *b, hg_value_id x, hg_dim heads, hg_dim size);

#endif
