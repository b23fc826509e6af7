/* quantize_blocks.c - weights alone become codes: blocks for MatMulNBits, rounded floats for
 * convolutions. */
#include "pass/quantize_state.h"

#include <math.h>

typedef struct blocks_all {
    int64_t count, bytes; /* of a column */
    uint8_t *codes, *zeros;
    float *scale, *float_zero;
    double difference, size;
} blocks_all;

/* One block of one column: codes side by side, the first in the low bits. */
static void blocks_one(holo_quantize mode, const hg_quantize_weights *w, int64_t c, int64_t at,
                       blocks_all *out)
{
    uint8_t code[HG_QUANTIZE_BLOCK] = {0};
    const uint32_t bits = hg_quantize_bits(mode);
    const int64_t first = at * HG_QUANTIZE_BLOCK, n = hg_min(HG_QUANTIZE_BLOCK, w->each - first);
    const float *from = w->data + c * w->channel + first * w->step;
    const hg_quantize_code q = hg_quantize_group(mode, from, n, w->step, code);
    uint8_t *to = out->codes + c * out->bytes + first * bits / 8;
    for (int64_t i = 0; i < HG_QUANTIZE_BLOCK; i++) {
        const int64_t bit = i * bits;
        to[bit / 8] = (uint8_t)(to[bit / 8] | code[i] << (bit % 8));
        if (i >= n) continue;
        const double x = (double)from[i * w->step];
        const double d = x - ((double)code[i] - (double)q.zero) * (double)q.scale;
        out->difference += d * d;
        out->size += x * x;
    }
    out->scale[c * out->count + at] = q.scale * w->alpha;
    out->float_zero[c * out->count + at] = q.zero;
}

static holo_status blocks_make(hg_graph *g, holo_quantize mode, const hg_quantize_weights *w,
                               blocks_all *out)
{
    const uint32_t bits = hg_quantize_bits(mode);
    out->count = hg_ceil_div(w->each, HG_QUANTIZE_BLOCK);
    out->bytes = out->count * HG_QUANTIZE_BLOCK * bits / 8;
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->bytes), &out->codes));
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->count), &out->scale));
    HG_TRY(HG_NEW(g->ctx, (size_t)(w->channels * out->count), &out->float_zero));
    /* Columns inside: their numbers mostly lie side by side. */
    for (int64_t at = 0; at < out->count; at++)
        for (int64_t c = 0; c < w->channels; c++)
            blocks_one(mode, w, c, at, out);
    return HOLO_OK;
}

/* Zero points as an input where they are not the usual ones: packed codes of 1 for ternary. */
static hg_value_id blocks_zeros(hg_build *b, holo_quantize mode, const hg_quantize_weights *w,
                                const blocks_all *blocks)
{
    hg_dims *d = &b->g->dims;
    hg_type type = {.dtype = HOLO_F32, .rank = 2};
    type.dim[0] = hg_dim_const(d, w->channels);
    type.dim[1] = hg_dim_const(d, blocks->count);
    const size_t count = (size_t)(w->channels * blocks->count);
    if (mode == HOLO_QUANTIZE_Q96)
        return hg_build_const(b, type, blocks->float_zero, count * sizeof(float));
    if (mode != HOLO_QUANTIZE_TERNARY) return 0;
    const int64_t bytes = hg_ceil_div(blocks->count, 4);
    uint8_t *zeros = hg_arena_array(&b->ctx->arena, (size_t)(w->channels * bytes), 1);
    if (zeros == NULL) {
        b->status = hg_fail_nomem(b->ctx->error, (size_t)bytes);
        return 0;
    }
    memset(zeros, 0x55, (size_t)(w->channels * bytes));
    type.dtype = HOLO_U8;
    type.dim[1] = hg_dim_const(d, bytes);
    return hg_build_const(b, type, zeros, (size_t)(w->channels * bytes));
}

/* 4 allows activations of 8 bits: next to weights of 4 bits and less their error does not show. */
static int64_t blocks_level(holo_quantize mode)
{
    return mode == HOLO_QUANTIZE_INT8 || mode == HOLO_QUANTIZE_Q96 ? 0 : 4;
}

holo_status hg_quantize_blocks(hg_quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = hg_quantize_read(s, i);
    const holo_quantize mode = s->q->mode;
    const int64_t bits = hg_quantize_bits(mode);
    hg_quantize_layer *layer = &s->q->layer[i];
    blocks_all blocks = {0};
    hg_build b;
    HG_TRY(blocks_make(s->g, mode, &w, &blocks));
    layer->weight_error = blocks.size == 0 ? 0 : sqrt(blocks.difference / blocks.size);
    layer->weights = (uint64_t)(w.channels * w.each);
    layer->form = "blocks of 32";
    hg_build_init(&b, s->g, s->layer[i]);
    hg_dims *d = &s->g->dims;
    hg_type type = {.dtype = HOLO_U8, .rank = 3}, table = {.dtype = HOLO_F32, .rank = 2};
    type.dim[0] = table.dim[0] = hg_dim_const(d, w.channels);
    type.dim[1] = table.dim[1] = hg_dim_const(d, blocks.count);
    type.dim[2] = hg_dim_const(d, HG_QUANTIZE_BLOCK * bits / 8);
    hg_value_id in[4] = {
        hg_build_in(&b, 0),
        hg_build_const(&b, type, blocks.codes, (size_t)(w.channels * blocks.bytes)),
        hg_build_const(&b, table, blocks.scale, (size_t)(w.channels * blocks.count) * 4),
        blocks_zeros(&b, mode, &w, &blocks)};
    hg_attr attr[] = {hg_attr_make_int("K", w.each), hg_attr_make_int("N", w.channels),
                      hg_attr_make_int("bits", bits),
                      hg_attr_make_int("block_size", HG_QUANTIZE_BLOCK),
                      hg_attr_make_int("accuracy_level", blocks_level(mode))};
    hg_value_id made =
        hg_build_op(&b, "com.microsoft:MatMulNBits", in, in[3] == 0 ? 3 : 4, attr, HG_COUNT(attr));
    hg_quantize_replace(s, i, &b, made);
    return b.status;
}

/* A convolution's weights become what their codes stand for. */
holo_status hg_quantize_rounded(hg_quantize_state *s, uint32_t i)
{
    const hg_quantize_weights w = hg_quantize_read(s, i);
    hg_quantize_layer *layer = &s->q->layer[i];
    int8_t *codes;
    float *scale, *rounded;
    hg_value_id made;
    const size_t count = (size_t)(w.channels * w.each);
    HG_TRY(hg_quantize_round(s, i, 1, &w, &codes, &scale));
    HG_TRY(HG_NEW(s->g->ctx, count, &rounded));
    for (size_t k = 0; k < count; k++)
        rounded[k] = (float)codes[k] * scale[k / (size_t)w.each];
    layer->weight_error = hg_quantize_error(&w, codes, scale);
    layer->weights = count;
    layer->form = "rounded, float";
    const hg_value *old =
        hg_graph_value(s->g, hg_node_in(s->g, hg_graph_node(s->g, s->layer[i]), 1));
    HG_TRY(hg_graph_add_const(s->g, old->name, w.type, rounded, count * sizeof(float), &made));
    hg_graph_set_input(s->g, s->layer[i], 1, made);
    return HOLO_OK;
}
