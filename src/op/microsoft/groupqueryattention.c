/* groupqueryattention.c - com.microsoft:GroupQueryAttention: attention of one piece of a text with
 * a cache of what was before, where several heads of queries share one of keys.
 *
 * Row b of the batch has total[b] = seqlens_k[b] + 1 keys. Its queries are the last S of them, or,
 * when there are fewer (a first piece with padding behind it), the first ones: query s stands at
 * max(total[b] - S, 0) + s. The cache has room for max(total_sequence_length, size of the past). */
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
    hg_dim batch, queries, now, past, total, room, size;
    int64_t q_heads, heads, window;
    bool is_packed;
} gqa_shape;

typedef struct gqa_place {
    hg_value_id total; /* [B] int64 */
    hg_value_id past;  /* [B] int64: where the new keys go; 0 when there is no past */
} gqa_place;

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
    s->room = hg_dim_max(n->dims, s->total, s->past);
    return HOLO_OK;
}

static holo_status gqa_check_attributes(const hg_infer *n)
{
    double number;
    int64_t causal, window, flag, output;
    hg_str kind;
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
    HG_TRY(hg_attr_int(n, "sliding_window_cache", 0, &flag));
    if (flag != 0)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "sliding_window_cache is not supported");
    for (uint32_t i = 0; i < 2; i++) {
        HG_TRY(hg_attr_string(n, i == 0 ? "k_quant_type" : "v_quant_type", "NONE", &kind));
        if (!hg_str_is(kind, "NONE") || hg_infer_has(n, GQA_K_SCALE + i))
            return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                                 "a cache of codes is not supported, %c_quant_type must be NONE",
                                 i == 0 ? 'k' : 'v');
    }
    return HOLO_OK;
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
    for (size_t k = 0; k < HG_COUNT(floats); k++) {
        if (!hg_infer_has(n, floats[k].input)) continue;
        HG_TRY(hg_infer_same_type(n, GQA_Q, floats[k].input));
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
    const holo_dtype dtype = n->in[GQA_Q]->dtype;
    hg_dim q_heads = hg_dim_const(n->dims, s.q_heads), heads = hg_dim_const(n->dims, s.heads);
    n->out[0] = (hg_type){.dtype = dtype,
                          .rank = 3,
                          .dim = {s.batch, s.queries, hg_dim_mul(n->dims, q_heads, s.size)}};
    for (uint32_t j = 1; j < n->n_out && j < 3; j++)
        n->out[j] = (hg_type){.dtype = dtype, .rank = 4, .dim = {s.batch, heads, s.room, s.size}};
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

/* The cache with the new rows of each row of the batch written behind its old ones. */
static hg_value_id gqa_cache(hg_build *b, const gqa_shape *s, const gqa_place *p, hg_value_id past,
                             hg_value_id now)
{
    hg_attr axis = hg_attr_make_int("axis", 2);
    if (past == 0) return gqa_pad(b, now, s->now, s->room);
    if (!hg_dim_is(&b->g->dims, s->batch, 1)) {
        /* Rows that are shorter than others: what lies behind must not reach the products. */
        hg_value_id row = hg_build_2(b, "Unsqueeze", hg_build_range(b, s->past),
                                     hg_build_ints(b, (int64_t[]){1}, 1));
        hg_value_id held = hg_build_2(b, "Less", row, gqa_by_batch(b, p->past));
        hg_value_id zero = hg_build_scalar(b, hg_build_type(b, past)->dtype, 0.0);
        past = hg_build_3(b, "Where", held, past, zero);
    }
    hg_value_id in[] = {gqa_pad(b, past, s->past, s->room), now, p->past};
    return hg_build_op(b, "TensorScatter", in, HG_COUNT(in), &axis, 1);
}

/* The first total rows of a cache. */
static hg_value_id gqa_used(hg_build *b, const gqa_shape *s, hg_value_id cache)
{
    if (s->room == s->total) return cache;
    return hg_build_part(b, cache, 2, hg_dim_const(&b->g->dims, 0), s->total);
}

static hg_value_id gqa_bias(hg_build *b, const gqa_shape *s, const gqa_place *p)
{
    bool is_causal = hg_node_int(b->node, "causal", 1) != 0;
    hg_attention_mask m = {
        .queries = s->queries,
        .keys = s->total,
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
    /* Queries that are padding see what the last one sees. */
    hg_value_id one = hg_build_scalar(b, HOLO_I64, 1.0);
    m.places = hg_build_2(b, "Unsqueeze", hg_build_range(b, s->queries),
                          hg_build_ints(b, (int64_t[]){1}, 1));
    if (p->past != 0) m.places = hg_build_2(b, "Add", m.places, gqa_by_batch(b, p->past));
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
    hg_value_id k = gqa_turn(b, gqa_by_heads(b, &s, GQA_K), angles), v = gqa_by_heads(b, &s, GQA_V);
    present[0] = gqa_cache(b, &s, &p, hg_build_in(b, GQA_PAST_K), k);
    present[1] = gqa_cache(b, &s, &p, hg_build_in(b, GQA_PAST_V), v);
    hg_scores a = {
        .shape = {.batch = s.batch,
                  .q_heads = hg_dim_const(&b->g->dims, s.q_heads),
                  .heads = hg_dim_const(&b->g->dims, s.heads),
                  .queries = s.queries,
                  .keys = s.total,
                  .past = s.past,
                  .size = s.size,
                  .v_size = s.size},
        .q = gqa_turn(b, gqa_by_heads(b, &s, GQA_Q), angles),
        .k = gqa_used(b, &s, present[0]),
        .v = gqa_used(b, &s, present[1]),
        .bias = gqa_bias(b, &s, &p),
        .sink = gqa_sink(b),
        .scale = scale != 0.0 ? &scale : NULL,
        .softcap = hg_node_float(b->node, "softcap", 0.0),
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
