/* groupqueryattention.c - com.microsoft:GroupQueryAttention: attention of one piece of a text with
 * a cache of what was before, where several heads of queries share one of keys.
 *
 * Row b of the batch has total[b] = seqlens_k[b] + 1 keys. Its queries are the last S of them, or,
 * when there are fewer (a first piece with padding behind it), the first ones: query s stands at
 * max(total[b] - S, 0) + s. The cache has room for max(total_sequence_length, size of the past).
 *
 * A cache that slides keeps its size C, of which at least a window of W is in use. Row b of the
 * batch with P keys before the new ones holds the last end(P) of them:
 *     end(P) = P up to C, beyond it P minus the least multiple of C - W + 1 that leaves at most C.
 * So it is moved once in C - W + 1 steps, not in each. */
#include "op/op_kvcodes.h"
#include "op/op_mha.h"

enum {
    GQA_Q,
    GQA_K,
    GQA_V,
    GQA_PAST_K,
    GQA_PAST_V,
    GQA_LENGTHS,
    GQA_TOTAL,
    GQA_COS,
    GQA_SIN,
    GQA_PLACES,
    GQA_SCORE_BIAS,
    GQA_SINK,
    GQA_K_SCALE,
    GQA_V_SCALE,
    GQA_Q_NORM,
    GQA_K_NORM
};

typedef struct gqa_shape {
    hg_dim batch, queries, now, past, total, size;
    hg_dim room; /* rows of the cache that is given on */
    hg_dim keys; /* rows that attention sees */
    int64_t q_heads, heads, window;
    hg_kv_codes codes;
    bool is_packed, slides;
} gqa_shape;

typedef struct gqa_place {
    hg_value_id total; /* [B] int64 */
    hg_value_id past;  /* [B] int64: place of the first query; 0 when there is no past */
    hg_value_id end;   /* [B] int64: where the new keys go in the cache */
} gqa_place;

/* What a cache holds, by attributes and the type of the past. */
static holo_status gqa_read_codes(const hg_infer *n, gqa_shape *s)
{
    const bool has_past = hg_infer_has(n, GQA_PAST_K);
    hg_kv_codes *c = &s->codes;
    hg_str kind[2];
    int64_t bits;
    HG_TRY(hg_attr_string(n, "k_quant_type", "NONE", &kind[0]));
    HG_TRY(hg_attr_string(n, "v_quant_type", "NONE", &kind[1]));
    HG_TRY(hg_attr_int(n, "kv_cache_bit_width", 0, &bits));
    *c = (hg_kv_codes){.bits = bits,
                       .by_channel = hg_str_is(kind[0], "PER_CHANNEL"),
                       .heads = hg_dim_const(n->dims, s->heads),
                       .size = s->size};
    c->stored = has_past    ? n->in[GQA_PAST_K]->dtype
                : bits == 0 ? n->in[GQA_Q]->dtype
                : bits == 8 ? HOLO_I8
                            : HOLO_U8;
    const bool is_none = hg_str_is(kind[0], "NONE");
    if (!hg_str_equal(kind[0], kind[1]) ||
        (!is_none && !c->by_channel && !hg_str_is(kind[0], "PER_TENSOR")))
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "k_quant_type is \"%.*s\" and v_quant_type \"%.*s\", expected both "
                             "NONE, PER_TENSOR or PER_CHANNEL",
                             HG_STR_ARG(kind[0]), HG_STR_ARG(kind[1]));
    if (is_none ? bits != 0 : bits != 4 && bits != 8)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "kv_cache_bit_width is %lld, expected %s",
                             (long long)bits, is_none ? "0 as nothing is quantised" : "4 or 8");
    return HOLO_OK;
}

/* Whether scales and a cache of codes fit. */
static holo_status gqa_check_codes(const hg_infer *n, const gqa_shape *s)
{
    const hg_kv_codes *c = &s->codes;
    hg_dims *d = n->dims;
    hg_dim one = hg_dim_const(d, 1), none = hg_dim_const(d, 0), two = hg_dim_const(d, 2);
    for (uint32_t i = 0; i < 2; i++) {
        if (hg_infer_has(n, GQA_K_SCALE + i) != (c->bits != 0))
            return hg_infer_fail(n, HOLO_E_MODEL,
                                 "input %u, the scale of a cache of codes, %s with a cache of %s",
                                 GQA_K_SCALE + i, c->bits != 0 ? "is missing" : "is given",
                                 c->bits != 0 ? "codes" : "numbers");
        if (c->bits == 0) continue;
        HG_TRY(hg_infer_types(n, GQA_K_SCALE + i, HG_TYPE_BIT(HOLO_F32)));
        const hg_dim count = hg_type_count(n->g, n->in[GQA_K_SCALE + i]);
        if (!hg_infer_equal(n, count, c->by_channel ? hg_dim_mul(d, c->heads, s->size) : one))
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u does not have one scale%s",
                                 GQA_K_SCALE + i,
                                 c->by_channel ? " for each column of each head" : "");
        if (hg_infer_has(n, GQA_PAST_K + i))
            HG_TRY(hg_infer_types(n, GQA_PAST_K + i, HG_TYPE_BIT(HOLO_I8) | HG_TYPE_BIT(HOLO_U8)));
    }
    if (c->bits == 4 && !hg_infer_equal(n, hg_dim_mod(d, s->size, two), none))
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "a cache of 4 bits needs heads of an even number of columns");
    return HOLO_OK;
}

/* A cache that slides has a window and room for it, and nothing that names places of the text. */
static holo_status gqa_check_slides(const hg_infer *n, const gqa_shape *s)
{
    if (!s->slides) return HOLO_OK;
    if (s->window < 1)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "sliding_window_cache needs a local_window_size of at least 1");
    if (!hg_infer_has(n, GQA_PAST_K))
        return hg_infer_fail(n, HOLO_E_MODEL, "sliding_window_cache needs past_key and past_value");
    if (hg_infer_has(n, GQA_SCORE_BIAS) || n->n_out > 3)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "sliding_window_cache cannot be combined with attention_bias and "
                             "output_qk, whose columns are places of the whole text");
    hg_infer_at_least(n, s->past, hg_dim_const(n->dims, s->window));
    return HOLO_OK;
}

static holo_status gqa_read(const hg_infer *n, gqa_shape *s)
{
    const hg_type *q = n->in[GQA_Q];
    const hg_dim *total;
    uint32_t count;
    *s =
        (gqa_shape){.batch = q->dim[0], .queries = q->dim[1], .is_packed = !hg_infer_has(n, GQA_K)};
    HG_TRY(hg_mha_heads(n, "num_heads", &s->q_heads));
    HG_TRY(hg_mha_heads(n, "kv_num_heads", &s->heads));
    HG_TRY(hg_attr_int(n, "local_window_size", -1, &s->window));
    if (s->q_heads % s->heads != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "num_heads is %lld, expected a multiple of %lld",
                             (long long)s->q_heads, (long long)s->heads);
    HG_TRY(hg_mha_divide(n, q->dim[2], s->q_heads + (s->is_packed ? 2 * s->heads : 0), &s->size));
    s->now = s->is_packed ? s->queries : n->in[GQA_K]->dim[1];
    HG_TRY(hg_infer_need_content(n, GQA_TOTAL, &total, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "total_sequence_length has %u elements, expected 1",
                             count);
    s->total = total[0];
    s->past = hg_infer_has(n, GQA_PAST_K) ? n->in[GQA_PAST_K]->dim[2] : hg_dim_const(n->dims, 0);
    s->slides = hg_node_int(n->node, "sliding_window_cache", 0) != 0;
    s->room = s->slides ? s->past : hg_dim_max(n->dims, s->total, s->past);
    s->keys = s->slides ? hg_dim_add(n->dims, s->past, s->now) : s->total;
    return gqa_read_codes(n, s);
}

static holo_status gqa_check_attributes(const hg_infer *n)
{
    double number;
    int64_t causal, window, flag, output;
    HG_TRY(hg_attr_int(n, "causal", 1, &causal));
    HG_TRY(hg_attr_int(n, "do_rotary", 0, &flag));
    HG_TRY(hg_attr_int(n, "rotary_interleaved", 0, &flag));
    HG_TRY(hg_attr_int(n, "smooth_softmax", 0, &flag));
    HG_TRY(hg_attr_int(n, "qk_output", 0, &output));
    HG_TRY(hg_attr_float(n, "scale", 0.0, &number));
    HG_TRY(hg_attr_float(n, "softcap", 0.0, &number));
    HG_TRY(hg_attr_float(n, "qk_norm_epsilon", 1e-6, &number));
    HG_TRY(hg_attr_int(n, "local_window_size", -1, &window));
    if (window == 0 || window < -1 || (causal == 0 && window != -1))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "local_window_size is %lld, expected -1 or, for causal attention, at "
                             "least 1",
                             (long long)window);
    if (output < 0 || output > 2)
        return hg_infer_fail(n, HOLO_E_MODEL, "qk_output is %lld, expected 0, 1 or 2",
                             (long long)output);
    return hg_attr_int(n, "sliding_window_cache", 0, &flag);
}

/* Inputs first and second are both there or both absent. */
static holo_status gqa_check_pair(const hg_infer *n, uint32_t first, uint32_t second)
{
    if (hg_infer_has(n, first) == hg_infer_has(n, second)) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "inputs %u and %u must come together", first, second);
}

static holo_status gqa_check_inputs(const hg_infer *n)
{
    static const struct {
        uint8_t input, low, high;
    } floats[] = {{GQA_Q, 3, 3},          {GQA_K, 3, 3},      {GQA_V, 3, 3},     {GQA_PAST_K, 4, 4},
                  {GQA_PAST_V, 4, 4},     {GQA_COS, 2, 2},    {GQA_SIN, 2, 2},   {GQA_SINK, 1, 1},
                  {GQA_SCORE_BIAS, 4, 4}, {GQA_Q_NORM, 1, 1}, {GQA_K_NORM, 1, 1}};
    const bool has_codes = hg_node_int(n->node, "kv_cache_bit_width", 0) != 0;
    for (size_t k = 0; k < HG_COUNT(floats); k++) {
        const uint8_t i = floats[k].input;
        if (!hg_infer_has(n, i)) continue;
        if (!has_codes || (i != GQA_PAST_K && i != GQA_PAST_V))
            HG_TRY(hg_infer_same_type(n, GQA_Q, i));
        HG_TRY(hg_infer_rank(n, floats[k].input, floats[k].low, floats[k].high));
    }
    HG_TRY(gqa_check_pair(n, GQA_K, GQA_V));
    HG_TRY(gqa_check_pair(n, GQA_PAST_K, GQA_PAST_V));
    HG_TRY(gqa_check_pair(n, GQA_COS, GQA_SIN));
    HG_TRY(gqa_check_pair(n, GQA_Q_NORM, GQA_K_NORM));
    for (uint32_t i = GQA_LENGTHS; i <= GQA_TOTAL; i++)
        HG_TRY(hg_infer_types(n, i, HG_TYPE_BIT(HOLO_I32) | HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, GQA_LENGTHS, 1, 2));
    if (hg_node_int(n->node, "do_rotary", 0) != 0 && !hg_infer_has(n, GQA_COS))
        return hg_infer_fail(n, HOLO_E_MODEL, "do_rotary needs cos_cache and sin_cache");
    if (!hg_infer_has(n, GQA_PLACES)) return HOLO_OK;
    HG_TRY(hg_infer_types(n, GQA_PLACES, HG_TYPE_BIT(HOLO_I64)));
    return hg_infer_rank(n, GQA_PLACES, 2, 2);
}

static holo_status gqa_infer(hg_infer *n)
{
    gqa_shape s;
    HG_TRY(gqa_check_attributes(n));
    HG_TRY(gqa_check_inputs(n));
    HG_TRY(gqa_read(n, &s));
    HG_TRY(gqa_check_codes(n, &s));
    HG_TRY(gqa_check_slides(n, &s));
    if (hg_infer_has(n, GQA_PAST_K)) HG_TRY(hg_infer_same_type(n, GQA_PAST_K, GQA_PAST_V));
    const holo_dtype dtype = n->in[GQA_Q]->dtype;
    hg_dim q_heads = hg_dim_const(n->dims, s.q_heads), heads = hg_dim_const(n->dims, s.heads);
    n->out[0] = (hg_type){.dtype = dtype,
                          .rank = 3,
                          .dim = {s.batch, s.queries, hg_dim_mul(n->dims, q_heads, s.size)}};
    for (uint32_t j = 1; j < n->n_out && j < 3; j++)
        n->out[j] = (hg_type){.dtype = s.codes.stored,
                              .rank = 4,
                              .dim = {s.batch, heads, s.room, hg_kv_columns(n->dims, &s.codes)}};
    if (n->n_out > 3)
        n->out[3] =
            (hg_type){.dtype = dtype, .rank = 4, .dim = {s.batch, q_heads, s.queries, s.total}};
    return HOLO_OK;
}

/* [B] as [B, 1, 1, 1] */
static hg_value_id gqa_by_batch(hg_build *b, hg_value_id x)
{
    return hg_build_2(b, "Unsqueeze", x, hg_build_ints(b, (int64_t[]){1, 2, 3}, 3));
}

/* Rows of a sliding cache that are in use when there were `count` keys: [B]. */
static hg_value_id gqa_slid(hg_build *b, const gqa_shape *s, hg_value_id count)
{
    hg_dims *d = &b->g->dims;
    hg_dim one = hg_dim_const(d, 1), window = hg_dim_const(d, s->window);
    hg_dim step = hg_dim_max(d, hg_dim_add(d, hg_dim_sub(d, s->past, window), one), one);
    hg_value_id zero = hg_build_scalar(b, HOLO_I64, 0.0), by = hg_build_dim(b, step);
    hg_value_id over = hg_build_2(b, "Sub", count, hg_build_dim(b, s->past));
    over = hg_build_2(b, "Add", hg_build_2(b, "Max", over, zero),
                      hg_build_dim(b, hg_dim_sub(d, step, one)));
    return hg_build_2(b, "Sub", count, hg_build_2(b, "Mul", hg_build_2(b, "Div", over, by), by));
}

static gqa_place gqa_places(hg_build *b, const gqa_shape *s)
{
    gqa_place p = {0};
    hg_value_id zero = hg_build_scalar(b, HOLO_I64, 0.0), one = hg_build_scalar(b, HOLO_I64, 1.0);
    hg_value_id lengths = hg_build_cast(b, hg_build_in(b, GQA_LENGTHS), HOLO_I64);
    lengths = hg_build_reshape(b, lengths, &s->batch, 1);
    p.total = hg_build_2(b, "Add", lengths, one);
    if (hg_build_in(b, GQA_PAST_K) == 0) return p;
    p.past = hg_build_2(b, "Sub", p.total, hg_build_dim(b, s->queries));
    p.past = hg_build_2(b, "Max", p.past, zero);
    p.end = s->slides ? gqa_slid(b, s, p.past) : p.past;
    return p;
}

/* Places that the node is given. Of those of a first piece, all of a text, the operator is said to
 * read the first one alone and to count up from it. */
static hg_value_id gqa_given_angles(hg_build *b, const gqa_shape *s, hg_value_id given)
{
    hg_dims *d = &b->g->dims;
    hg_dim none = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    hg_dim is_first = hg_dim_eq(d, s->queries, s->total), dims[] = {s->batch, s->queries};
    if (hg_dim_is(d, is_first, 0)) return given;
    hg_value_id first = hg_build_part(b, hg_build_part(b, given, 0, none, one), 1, none, one);
    hg_value_id counted = hg_build_2(b, "Add", first, hg_build_range(b, s->queries));
    counted = hg_build_2(b, "Expand", counted, hg_build_dims(b, dims, 2));
    hg_value_id when = hg_build_cast(b, hg_build_dim(b, is_first), HOLO_BOOL);
    return hg_dim_is(d, is_first, 1) ? counted : hg_build_3(b, "Where", when, counted, given);
}

/* Place of each query for the tables of angles, [B, S]. */
static hg_value_id gqa_angles(hg_build *b, const gqa_shape *s, const gqa_place *p)
{
    hg_value_id given = hg_build_in(b, GQA_PLACES), query;
    hg_dim dims[] = {s->batch, s->queries};
    if (given != 0) return gqa_given_angles(b, s, given);
    query = hg_build_range(b, s->queries);
    if (p->past == 0) return hg_build_2(b, "Expand", query, hg_build_dims(b, dims, 2));
    hg_value_id axis = hg_build_ints(b, (int64_t[]){1}, 1);
    return hg_build_2(b, "Add", hg_build_2(b, "Unsqueeze", p->past, axis), query);
}

/* Queries (0), keys (1) or values (2) by heads, normalised if the node has weights for that. */
static hg_value_id gqa_by_heads(hg_build *b, const gqa_shape *s, uint32_t which)
{
    hg_dims *d = &b->g->dims;
    int64_t heads = which == 0 ? s->q_heads : s->heads;
    hg_value_id x = hg_build_in(b, which);
    if (s->is_packed) {
        int64_t first = which == 0 ? 0 : s->q_heads + (which == 2 ? s->heads : 0);
        x = hg_build_part(b, hg_build_in(b, GQA_Q), 2,
                          hg_dim_mul(d, s->size, hg_dim_const(d, first)),
                          hg_dim_mul(d, s->size, hg_dim_const(d, first + heads)));
    }
    x = hg_build_heads(b, x, hg_dim_const(d, heads), s->size);
    hg_value_id weights = which == 2 ? 0 : hg_build_in(b, GQA_Q_NORM + which);
    if (weights == 0 || b->status != HOLO_OK) return x;
    hg_attr epsilon =
        hg_attr_make_float("epsilon", hg_node_float(b->node, "qk_norm_epsilon", 1e-6));
    return hg_build_op(b, "RMSNormalization", (hg_value_id[]){x, weights}, 2, &epsilon, 1);
}

static hg_value_id gqa_turn(hg_build *b, hg_value_id x, hg_value_id angles)
{
    int64_t half, turned = 0;
    if (b->status != HOLO_OK || hg_node_int(b->node, "do_rotary", 0) == 0) return x;
    if (hg_dim_is_const(&b->g->dims, hg_build_type(b, hg_build_in(b, GQA_COS))->dim[1], &half))
        turned = 2 * half;
    hg_attr attr[] = {
        hg_attr_make_int("interleaved", hg_node_int(b->node, "rotary_interleaved", 0) != 0),
        hg_attr_make_int("rotary_embedding_dim", turned),
    };
    hg_value_id in[] = {x, hg_build_in(b, GQA_COS), hg_build_in(b, GQA_SIN), angles};
    return hg_build_op(b, "RotaryEmbedding", in, HG_COUNT(in), attr, HG_COUNT(attr));
}

/* Zeros behind the rows of x, up to `room` of them. */
static hg_value_id gqa_pad(hg_build *b, hg_value_id x, hg_dim rows, hg_dim room)
{
    hg_dims *d = &b->g->dims;
    hg_dim none = hg_dim_const(d, 0);
    hg_dim pads[] = {none, none, none, none, none, none, hg_dim_sub(d, room, rows), none};
    if (rows == room || b->status != HOLO_OK) return x;
    return hg_build_2(b, "Pad", x, hg_build_dims(b, pads, HG_COUNT(pads)));
}

/* [rows, 1] */
static hg_value_id gqa_rows(hg_build *b, hg_dim rows)
{
    return hg_build_2(b, "Unsqueeze", hg_build_range(b, rows), hg_build_ints(b, (int64_t[]){1}, 1));
}

/* The cache with the new rows of each row of the batch written behind its old ones; when it slides,
 * all of both. */
static hg_value_id gqa_cache(hg_build *b, const gqa_shape *s, const gqa_place *p, hg_value_id past,
                             hg_value_id now)
{
    hg_attr axis = hg_attr_make_int("axis", 2);
    const hg_dim room = s->slides ? s->keys : s->room;
    if (past == 0) return gqa_pad(b, now, s->now, room);
    if (s->codes.bits == 0 && (s->slides || !hg_dim_is(&b->g->dims, s->batch, 1))) {
        /* Rows that are shorter than others: what lies behind must not reach the products. Codes
         * are finite whatever they are. */
        hg_value_id held = hg_build_2(b, "Less", gqa_rows(b, s->past), gqa_by_batch(b, p->end));
        hg_value_id zero = hg_build_scalar(b, hg_build_type(b, past)->dtype, 0.0);
        past = hg_build_3(b, "Where", held, past, zero);
    }
    hg_value_id in[] = {gqa_pad(b, past, s->past, room), now, p->end};
    return hg_build_op(b, "TensorScatter", in, HG_COUNT(in), &axis, 1);
}

/* What is given on of a cache that slides: its last rows, from the first place on. */
static hg_value_id gqa_slide(hg_build *b, const gqa_shape *s, const gqa_place *p, hg_value_id all)
{
    hg_dims *d = &b->g->dims;
    hg_attr axis = hg_attr_make_int("axis", 2);
    hg_value_id now = hg_build_dim(b, s->now);
    hg_dim last = hg_dim_sub(d, s->keys, hg_dim_const(d, 1));
    hg_dim dims[] = {s->batch, s->codes.heads, s->room, hg_kv_columns(d, &s->codes)};
    if (!s->slides) return all;
    hg_value_id after = gqa_slid(b, s, hg_build_2(b, "Add", p->past, now));
    hg_value_id by = hg_build_2(b, "Sub", hg_build_2(b, "Add", p->end, now), after);
    hg_value_id row = hg_build_2(b, "Add", gqa_rows(b, s->room), gqa_by_batch(b, by));
    row = hg_build_2(b, "Min", row, hg_build_dim(b, last));
    row = hg_build_2(b, "Expand", row, hg_build_dims(b, dims, HG_COUNT(dims)));
    return hg_build_op(b, "GatherElements", (hg_value_id[]){all, row}, 2, &axis, 1);
}

/* New keys (0) or values (1) behind those of the past: what attention reads, and in *present what
 * the next call gets. */
static hg_value_id gqa_remember(hg_build *b, const gqa_shape *s, const gqa_place *p, uint32_t which,
                                hg_value_id now, hg_value_id *present)
{
    hg_value_id scale = hg_build_in(b, GQA_K_SCALE + which);
    const holo_dtype dtype = hg_build_type(b, hg_build_in(b, GQA_Q))->dtype;
    if (s->codes.bits != 0) now = hg_build_kv_encode(b, &s->codes, now, scale);
    hg_value_id all = gqa_cache(b, s, p, hg_build_in(b, GQA_PAST_K + which), now);
    *present = gqa_slide(b, s, p, all);
    if (!s->slides && s->room != s->total)
        all = hg_build_part(b, all, 2, hg_dim_const(&b->g->dims, 0), s->total);
    if (s->codes.bits == 0) return all;
    return hg_build_kv_decode(b, &s->codes, all, scale, dtype);
}

static hg_value_id gqa_bias(hg_build *b, const gqa_shape *s, const gqa_place *p)
{
    bool is_causal = hg_node_int(b->node, "causal", 1) != 0;
    hg_attention_mask m = {
        .queries = s->queries,
        .keys = s->keys,
        .past = hg_dim_const(&b->g->dims, 0),
        .mask = hg_build_in(b, GQA_SCORE_BIAS),
        .left = s->window < 0 ? -1 : s->window - 1,
        .right = -1,
        .is_causal = is_causal,
        .dtype = hg_build_type(b, hg_build_in(b, GQA_Q))->dtype,
    };
    if (!is_causal) {
        m.lengths = p->total;
        return hg_build_attention_bias(b, &m);
    }
    m.places = gqa_rows(b, s->queries);
    if (p->past != 0) m.places = hg_build_2(b, "Add", m.places, gqa_by_batch(b, p->end));
    if (s->slides) return hg_build_attention_bias(b, &m);
    /* Queries that are padding see what the last one sees. */
    hg_value_id one = hg_build_scalar(b, HOLO_I64, 1.0);
    m.places = hg_build_2(b, "Min", m.places, gqa_by_batch(b, hg_build_2(b, "Sub", p->total, one)));
    return hg_build_attention_bias(b, &m);
}

/* One more score for each row, if asked for: [heads, 1, 1] or one number. */
static hg_value_id gqa_sink(hg_build *b)
{
    hg_value_id sink = hg_build_in(b, GQA_SINK);
    if (sink != 0) return hg_build_2(b, "Unsqueeze", sink, hg_build_ints(b, (int64_t[]){1, 2}, 2));
    if (hg_node_int(b->node, "smooth_softmax", 0) == 0) return 0;
    return hg_build_scalar(b, hg_build_type(b, hg_build_in(b, GQA_Q))->dtype, 0.0);
}

static holo_status gqa_lower(hg_build *b)
{
    hg_infer n;
    gqa_shape s;
    HG_TRY(hg_build_reader(b, &n));
    HG_TRY(gqa_read(&n, &s));
    double scale = hg_node_float(b->node, "scale", 0.0);
    const gqa_place p = gqa_places(b, &s);
    hg_value_id angles = gqa_angles(b, &s, &p), present[2];
    hg_value_id k = gqa_by_heads(b, &s, GQA_K), v = gqa_by_heads(b, &s, GQA_V);
    /* Without new keys, those of the past are shared with another layer and turned already. */
    if (!hg_dim_is(&b->g->dims, s.now, 0)) k = gqa_turn(b, k, angles);
    k = gqa_remember(b, &s, &p, 0, k, &present[0]);
    v = gqa_remember(b, &s, &p, 1, v, &present[1]);
    hg_scores a = {
        .shape = {.batch = s.batch,
                  .q_heads = hg_dim_const(&b->g->dims, s.q_heads),
                  .heads = hg_dim_const(&b->g->dims, s.heads),
                  .queries = s.queries,
                  .keys = s.keys,
                  .past = s.past,
                  .size = s.size,
                  .v_size = s.size},
        .q = gqa_turn(b, gqa_by_heads(b, &s, GQA_Q), angles),
        .k = k,
        .v = v,
        .bias = gqa_bias(b, &s, &p),
        .sink = gqa_sink(b),
        .scale = scale != 0.0 ? &scale : NULL,
        .softcap = hg_node_float(b->node, "softcap", 0.0),
        .is_wide = true,
        .is_flat = true,
    };
    hg_build_replace(b, 0, hg_build_scores(b, &a));
    if (b->status != HOLO_OK) return b->status;
    const uint32_t n_out = b->node->n_out;
    for (uint32_t j = 1; j < n_out && j < 3; j++)
        hg_build_replace(b, j, present[j - 1]);
    bool after = hg_node_int(b->node, "qk_output", 0) == 2;
    if (n_out > 3) hg_build_replace(b, 3, a.stage[after ? HG_SCORES_SOFTMAX : HG_SCORES_BIASED]);
    return b->status;
}

const hg_op hg_op_microsoft_groupqueryattention = {
    .name = "GroupQueryAttention",
    .domain = "com.microsoft",
    .brief = "attention with a cache, where several heads of queries share one of keys",
    .since = 1,
    .in = {7, 16},
    .out = {1, 4},
    .types = HG_TYPE_BIT(HOLO_F32) | HG_TYPE_BIT(HOLO_F16) | HG_TYPE_BIT(HOLO_BF16),
    .infer = gqa_infer,
    .lower = gqa_lower,
};
