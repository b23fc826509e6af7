/* attention.h - what every variant of "attention" shares: parameters, check, cost, masks. */
#ifndef HG_KERNEL_ATTENTION_H
#define HG_KERNEL_ATTENTION_H

#include "isa/kernel.h"

enum { HG_ATTENTION_Q, HG_ATTENTION_K, HG_ATTENTION_V, HG_ATTENTION_BIAS, HG_ATTENTION_KEEP };

/* Places of parameters. A view is five: offset, then strides over batch, head, row and column. */
enum {
    HG_ATTENTION_BATCH,
    HG_ATTENTION_HEADS, /* of queries */
    HG_ATTENTION_QUERIES,
    HG_ATTENTION_KEYS,
    HG_ATTENTION_SIZE,   /* columns of queries and keys */
    HG_ATTENTION_WIDTH,  /* columns of values */
    HG_ATTENTION_REPEAT, /* heads of queries that share a head of keys and values */
    HG_ATTENTION_VIEWS,  /* of queries, keys, values */
    HG_ATTENTION_LAYOUT = HG_ATTENTION_VIEWS + 15,
    HG_ATTENTION_EMPTY,
    HG_ATTENTION_DROPS, /* what an element of `keep` is where the score is replaced */
    HG_ATTENTION_FILL,  /* by this (f64 bits) */
    HG_ATTENTION_SCALE, /* f64 bits */
    HG_ATTENTION_PARAMS
};

/* Layout of the output. */
enum { HG_ATTENTION_BY_HEAD, HG_ATTENTION_BY_ROW };

/* What a row is whose softmax is not a number. */
enum {
    HG_ATTENTION_NAN,        /* NaN */
    HG_ATTENTION_ZERO,       /* 0 */
    HG_ATTENTION_ZERO_MASKED /* 0 if every bias of the row is minus infinity, else NaN */
};

typedef struct hg_attention_view {
    const float *data;
    int64_t batch, head, row, col; /* strides */
} hg_attention_view;

/* A mask broadcast to [batch, heads, queries, keys]. */
typedef struct hg_score_mask {
    const void *data; /* NULL: none */
    int64_t stride[4];
} hg_score_mask;

typedef struct hg_attention {
    int64_t batch, heads, queries, keys, size, width, repeat;
    hg_attention_view view[3];
    hg_score_mask bias, keep;
    float scale, fill;
    uint8_t drops;
    int32_t empty;
    float *out;
    int64_t out_batch, out_head, out_row;
} hg_attention;

/* Checked arguments only. */
hg_attention hg_attention_of(const hg_args *a);
/* First element of operand `view` for a head of queries. */
const float *hg_attention_at(const hg_attention *s, int view, int64_t batch, int64_t head);
/* Elements before those of row `row` in a mask. */
int64_t hg_score_mask_at(const hg_score_mask *m, int64_t batch, int64_t head, int64_t row);
/* Whether a row whose softmax is NaN is 0. */
bool hg_attention_is_zero(const hg_attention *s, int64_t batch, int64_t head, int64_t row);
holo_status hg_attention_check(const hg_args *a, holo_error *e);
void hg_attention_cost(const hg_args *a, hg_cost *cost);

#endif
