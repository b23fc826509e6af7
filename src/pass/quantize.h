/* quantize.h - what the quantize pass is told and what it tells: the ranges of activations go in,
 * the layers it found come out. */
#ifndef HG_PASS_QUANTIZE_H
#define HG_PASS_QUANTIZE_H

#include "op/op_bits.h"
#include "pass/pass.h"

/* One product or convolution with constant weights. Texts lie in the arena of hg_quantize.ctx. */
typedef struct hg_quantize_layer {
    const char *node, *op, *name, *form;
    uint64_t weights, each; /* all, and of one output channel */
    uint32_t reads;         /* its activation */
    double weight_error;    /* root mean square, relative */
} hg_quantize_layer;

typedef struct hg_quantize_range {
    float low, high;
} hg_quantize_range;

/* What an activation is per channel: the last axis of what products read, axis 1 of what
 * convolutions read. */
typedef struct hg_quantize_channels {
    bool is_last;
    bool is_source;        /* no layer reads it, but functions of it */
    double *sum, *squares; /* NULL: not known */
    hg_quantize_range *range;
    int64_t channels;
    uint64_t count; /* numbers of each channel */
    /* Sums of products of two channels, [channels / block][block][block]; NULL: not known. */
    float *square;
    int64_t block;
    const float *smooth[2]; /* by digits - 1, see quantize_state.h; once is_smoothed */
    bool is_smoothed[2];
} hg_quantize_channels;

/* Codes that took long to find: kept from one compile to the next. */
typedef struct hg_quantize_found {
    int8_t *codes;
    float *scale;
} hg_quantize_found;

/* A compile with samples runs the pass three times on the same graph: it finds the same values and
 * layers in the same order each time. */
typedef struct hg_quantize {
    hg_ctx *ctx; /* whose arena keeps what is found; outlives the graph */
    holo_quantize mode;
    bool activations; /* quantise them too */
    bool apply;       /* rewrite; false: only look */
    bool observe;     /* outputs are added: activations (unless apply), then results of layers */
    bool square;      /* instead: products of channels, of activations with a block */
    bool any_pair;    /* weights side by side may be anything together */
    const bool *keep; /* per layer: stays as it is; NULL: none does */
    hg_quantize_range *range;      /* of activations, with apply */
    hg_quantize_channels *channel; /* of activations */
    const uint8_t *digits;         /* bytes of codes that products read: 1 or 2; NULL: 1 */
    hg_quantize_found *found;      /* [layer][digits - 1]; NULL: nothing is kept */
    uint32_t n_activation;
    hg_quantize_layer *layer;
    uint32_t n_layer;
    uint32_t n_seen; /* of them, in the graph itself; those of bodies come behind, unmeasured */
    int64_t *rows;   /* per input: of the tables that it chooses from, the fewest; 0: from none */
    uint32_t n_input;
} hg_quantize;

/* Products of codes must stay below 2^15 in pairs on CPUs without 8-bit dot products: 255 * 128
 * does. So two weights that lie side by side must not exceed 128 together, and one may be anything
 * up to 127: with a large one there is mostly a small one. Where that is too coarse, pairs may be
 * anything (hg_quantize.any_pair): such CPUs then widen the few that are too large. */
enum { HG_QUANTIZE_MAX_WEIGHT = 127, HG_QUANTIZE_PAIR = 128, HG_QUANTIZE_BLOCK = 32 };

/* Sizes of the weights of an output together, where inputs have codes of 16 bits: 2^15 times it
 * fits 32 bits, with room for rounding. */
enum { HG_QUANTIZE_COLUMN = 60000 };

/* Products of channels are known in blocks of so many at most. */
enum { HG_QUANTIZE_SQUARE = 1536 };
/* The size of blocks in which products of so many channels are kept; 0: not at all. */
int64_t hg_quantize_square_block(int64_t channels);

/* ---- codes (quantize_codes.c) ---------------------------------------------------------------- */

/* How numbers of one group become codes: w = (code - zero) * scale. */
typedef struct hg_quantize_code {
    float scale, zero;
} hg_quantize_code;

/* Numbers as they are read: channel c, element i, at c * channel + i * step. */
typedef struct hg_quantize_weights {
    const float *data;
    hg_type type;
    int64_t channels, each, channel, step;
    float alpha;
} hg_quantize_weights;

/* Bits that a code of the mode takes in a byte string, and its name for people. */
uint32_t hg_quantize_bits(holo_quantize mode);
const char *hg_quantize_name(holo_quantize mode);
/* The largest weight of codes -n .. n that products with 8-bit activations use. */
int32_t hg_quantize_limit(holo_quantize mode);
/* Codes of n numbers, `step` apart, as small unsigned numbers. */
hg_quantize_code hg_quantize_group(holo_quantize mode, const float *w, int64_t n, int64_t step,
                                   uint8_t *codes);
/* Codes that no ONNX operator reads, and activations of floats alone go with: they lie in panels of
 * matmul.bits from the start, as this kind. HG_BITS_KINDS: others. */
hg_bits_kind hg_quantize_kind(holo_quantize mode);
/* The product of b->node's first input with weights of such a mode. */
HG_MUST_CHECK holo_status hg_quantize_panels(hg_build *b, holo_quantize mode,
                                             const hg_quantize_weights *w, hg_quantize_layer *layer,
                                             hg_value_id *made);
/* The same as signed numbers of at most hg_quantize_limit, zero 0; scale is at least `least`. Where
 * `taps` is not 0, numbers are [n / taps][taps] and multiplied in the order of taps: neighbours in
 * that order are at most HG_QUANTIZE_PAIR together. */
float hg_quantize_channel(holo_quantize mode, const float *w, int64_t n, int64_t step, int64_t taps,
                          float least, int8_t *codes);

#endif
