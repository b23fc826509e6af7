/* quantize_state.h - what the files of the pass "quantize" know of a graph. */
#ifndef HG_PASS_QUANTIZE_STATE_H
#define HG_PASS_QUANTIZE_STATE_H

#include "pass/quantize.h"

typedef enum hg_quantize_layer_kind {
    HG_QUANTIZE_CONV = 1,
    HG_QUANTIZE_MATMUL
} hg_quantize_layer_kind;

/* A value that becomes codes. */
typedef struct hg_quantize_activation {
    hg_value_id value;
    uint32_t
        same_as;    /* + 1: has the range of an earlier one, of which it is a view or a selection */
    bool is_stored; /* as codes only: every reader gets them */
    uint32_t made_by;    /* + 1: the convolution whose result it is */
    uint32_t source;     /* + 1: the activation that it is a function of, see quantize_source.c */
    hg_value_id codes;   /* DQ(Q(value)), once made */
    const float *smooth; /* per channel: what it is divided by and weights are multiplied with */
} hg_quantize_activation;

typedef struct hg_quantize_state {
    hg_graph *g;
    hg_quantize *q;
    hg_node_id *layer;
    hg_quantize_layer_kind *kind;
    uint32_t *reads; /* per layer: its activation */
    bool *is_short;  /* per layer: codes would cost more than they save */
    uint32_t n_layer;
    hg_quantize_activation *activation;
    uint32_t n_activation;
    uint32_t *number; /* by value: of its activation + 1 */
} hg_quantize_state;

/* Layer i stays as it is. */
static inline bool hg_quantize_is_kept(const hg_quantize_state *s, uint32_t i)
{
    return s->is_short[i] || (s->q->keep != NULL && s->q->keep[i]);
}
/* Floats with known sizes, all finite. */
bool hg_quantize_is_weight(const hg_graph *g, hg_value_id v, int32_t rank_min, int32_t rank_max);

/* ---- activations (quantize_activations.c) ---------------------------------------------------- */

/* Relu, Max or Min with a constant: no number above `most`, none below `least`. */
typedef struct hg_quantize_bound {
    hg_value_id of;
    double least, most;
} hg_quantize_bound;
bool hg_quantize_is_bound(const hg_graph *g, hg_node_id id, hg_quantize_bound *out);
/* Scale and zero point of unsigned bytes that hold the range, with 0 exact. */
HG_MUST_CHECK holo_status hg_quantize_scale(const hg_quantize_state *s, uint32_t i,
                                            hg_quantize_code *out);
/* Builds QuantizeLinear and DequantizeLinear behind activation i; its readers get the codes. */
HG_MUST_CHECK holo_status hg_quantize_activation_apply(hg_quantize_state *s, uint32_t i);

/* Builds behind the node that makes a value, or before everything. */
void hg_quantize_build_after(hg_build *b, hg_graph *g, hg_value_id v);
/* Bytes of its codes: 1, or 2 where products alone read them. */
static inline uint32_t hg_quantize_digits(const hg_quantize_state *s, uint32_t activation)
{
    return s->q->digits == NULL ? 1 : s->q->digits[activation];
}

/* The result of a product that v is a dear function of, which nothing else reads; 0: it is not. */
hg_value_id hg_quantize_source(const hg_graph *g, hg_value_id v);

/* ---- rounding with regard to the inputs (quantize_solve.c) ----------------------------------- */

/* Codes and scales of product i where products of its inputs are known, which are rounded to
 * `step`. *done: they were. */
HG_MUST_CHECK holo_status hg_quantize_solve(const hg_quantize_state *s, uint32_t i,
                                            const hg_quantize_weights *w, float step, int8_t *codes,
                                            float *scale, bool *done);

/* ---- layers (quantize_static.c, quantize_blocks.c) ------------------------------------------- */

hg_quantize_weights hg_quantize_read(const hg_quantize_state *s, uint32_t i);
/* Codes of each output channel, as they lie in the weights, and their scales. */
HG_MUST_CHECK holo_status hg_quantize_round(const hg_quantize_state *s, uint32_t i, float x_scale,
                                            const hg_quantize_weights *w, int8_t **codes,
                                            float **scale);
/* Relative error of codes[c][i] * scale[c]. */
double hg_quantize_error(const hg_quantize_weights *w, const int8_t *codes, const float *scale);
/* Layer i is what was made from now on. */
void hg_quantize_replace(hg_quantize_state *s, uint32_t i, hg_build *b, hg_value_id made);
/* Layer i works on codes of both sides. */
HG_MUST_CHECK holo_status hg_quantize_static(hg_quantize_state *s, uint32_t i);
/* Weights alone: as MatMulNBits; of a convolution, what their codes stand for. */
HG_MUST_CHECK holo_status hg_quantize_blocks(hg_quantize_state *s, uint32_t i);
HG_MUST_CHECK holo_status hg_quantize_rounded(hg_quantize_state *s, uint32_t i);

#endif
