/* attention.c - Attention: softmax(Q K' scale + bias) V, by heads. */
#include "op/op_scores.h"

#include <math.h>

enum { ATTENTION_Q, ATTENTION_K, ATTENTION_V, ATTENTION_MASK, ATTENTION_PAST_K, ATTENTION_PAST_V };
enum { ATTENTION_LENGTHS = 6 };

/* Heads of a rank-3 input come from an attribute. */
static holo_status attention_heads(const hg_infer *n, const char *name, const hg_type *t,
                                   hg_dim *heads, hg_dim *length, hg_dim *size)
{
    int64_t count;
    HG_TRY(hg_attr_int(n, name, 0, &count));
    if (t->rank == 4) {
        *heads = t->dim[1], *length = t->dim[2], *size = t->dim[3];
        return HOLO_OK;
    }
    if (count < 1 || count > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected at least 1 for rank 3", name,
                             (long long)count);
    hg_dim known = hg_dim_const(n->dims, count);
    *size = hg_dim_floordiv(n->dims, t->dim[2], known);
    *length = t->dim[1];
    *heads = known;
    return HOLO_OK;
}

static holo_status attention_read(const hg_infer *n, hg_attention_shape *s)
{
    hg_dim ignored = 0;
    const hg_type *q = n->in[ATTENTION_Q], *k = n->in[ATTENTION_K], *v = n->in[ATTENTION_V];
    s->batch = q->dim[0];
    HG_TRY(attention_heads(n, "q_num_heads", q, &s->q_heads, &s->queries, &s->size));
    HG_TRY(attention_heads(n, "kv_num_heads", k, &s->heads, &s->keys, &ignored));
    HG_TRY(attention_heads(n, "kv_num_heads", v, &ignored, &ignored, &s->v_size));
    s->past = hg_dim_const(n->dims, 0);
    if (hg_node_in(n->g, n->node, ATTENTION_PAST_K) != 0) {
        s->past = n->in[ATTENTION_PAST_K]->dim[2];
        s->keys = hg_dim_add(n->dims, s->past, s->keys);
    }
    int64_t many, few;
    if (hg_dim_is_const(n->dims, s->q_heads, &many) && hg_dim_is_const(n->dims, s->heads, &few) &&
        (few < 1 || many % few != 0))
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld heads of queries and %lld of keys do not fit",
                             (long long)many, (long long)few);
    hg_dims *d = n->dims;
    hg_dim shared = hg_dim_floordiv(d, s->q_heads, hg_dim_max(d, s->heads, hg_dim_const(d, 1)));
    if (!hg_infer_equal(n, s->q_heads, hg_dim_mul(d, shared, s->heads)))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the heads of queries and keys do not fit");
    return HOLO_OK;
}

static holo_status attention_check(const hg_infer *n)
{
    int64_t number, mode;
    double factor;
    HG_TRY(hg_infer_rank(n, ATTENTION_Q, 3, 4));
    for (uint32_t i = ATTENTION_K; i <= ATTENTION_V; i++) {
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_rank(n, i, n->in[0]->rank, n->in[0]->rank));
    }
    HG_TRY(hg_infer_same_type(n, ATTENTION_Q, ATTENTION_K));
    if (hg_infer_has(n, ATTENTION_PAST_K) != hg_infer_has(n, ATTENTION_PAST_V))
        return hg_infer_fail(n, HOLO_E_MODEL, "past_key and past_value must come together");
    for (uint32_t i = ATTENTION_PAST_K; i <= ATTENTION_PAST_V; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_rank(n, i, 4, 4));
    if (hg_infer_has(n, ATTENTION_MASK)) HG_TRY(hg_infer_rank(n, ATTENTION_MASK, 0, 4));
    if (hg_infer_has(n, ATTENTION_LENGTHS)) {
        HG_TRY(hg_infer_types(n, ATTENTION_LENGTHS, HG_TYPE_BIT(HOLO_I64)));
        HG_TRY(hg_infer_rank(n, ATTENTION_LENGTHS, 1, 1));
    }
    HG_TRY(hg_attr_int(n, "is_causal", 0, &number));
    HG_TRY(hg_attr_int(n, "left_window_size", -1, &number));
    HG_TRY(hg_attr_int(n, "right_window_size", -1, &number));
    HG_TRY(hg_attr_int(n, "softmax_precision", 0, &number));
    HG_TRY(hg_attr_int(n, "qk_matmul_output_mode", 0, &mode));
    HG_TRY(hg_attr_float(n, "scale", 1.0, &factor));
    HG_TRY(hg_attr_float(n, "softcap", 0.0, &factor));
    if (mode < HG_SCORES_RAW || mode > HG_SCORES_SOFTMAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "qk_matmul_output_mode is %lld, expected 0 to 3",
                             (long long)mode);
    if (number != 0 &&
        (number < 0 || number >= 64 || !hg_dtype_in((holo_dtype)number, HG_TYPES_FLOAT)))
        return hg_infer_fail(n, HOLO_E_MODEL, "softmax_precision is %lld, expected a float type",
                             (long long)number);
    return HOLO_OK;
}

static holo_status attention_infer(hg_infer *n)
{
    hg_attention_shape s = {0};
    HG_TRY(attention_check(n));
    HG_TRY(attention_read(n, &s));
    const hg_type *q = n->in[ATTENTION_Q];
    n->out[0] = *q;
    if (q->rank == 4)
        n->out[0].dim[3] = s.v_size;
    else
        n->out[0].dim[2] = hg_dim_mul(n->dims, s.q_heads, s.v_size);
    hg_type cache = {.rank = 4, .dim = {s.batch, s.heads, s.keys, s.size}};
    for (uint32_t j = 1; j < n->n_out; j++) {
        n->out[j] = cache;
        n->out[j].dtype = n->in[j == 2 ? ATTENTION_V : ATTENTION_Q]->dtype;
        if (j == 2) n->out[j].dim[3] = s.v_size;
        if (j == 3)
            n->out[j].dim[1] = s.q_heads, n->out[j].dim[2] = s.queries, n->out[j].dim[3] = s.keys;
    }
    return HOLO_OK;
}

/* Input i by heads, [B, heads, S, size]. */
static hg_value_id attention_split(hg_build *b, uint32_t i, hg_dim heads, hg_dim size)
{
    hg_value_id x = hg_build_in(b, i);
    return hg_build_type(b, x)->rank == 4 ? x : hg_build_heads(b, x, heads, size);
}

/* Keys or values, behind those of the past. */
static hg_value_id attention_cache(hg_build *b, hg_value_id now, uint32_t past)
{
    hg_attr axis = hg_attr_make_int("axis", 2);
    hg_value_id before = hg_build_in(b, past);
    if (before == 0) return now;
    return hg_build_op(b, "Concat", (hg_value_id[]){before, now}, 2, &axis, 1);
}

static hg_value_id attention_bias(hg_build *b, const hg_attention_shape *s, holo_dtype dtype)
{
    const hg_attention_mask mask = {
        .queries = s->queries,
        .keys = s->keys,
        .past = s->past,
        .lengths = hg_build_in(b, ATTENTION_LENGTHS),
        .mask = hg_build_in(b, ATTENTION_MASK),
        .left = hg_node_int(b->node, "left_window_size", -1),
        .right = hg_node_int(b->node, "right_window_size", -1),
        .is_causal = hg_node_int(b->node, "is_causal", 0) != 0,
        .dtype = dtype,
    };
    return hg_build_attention_bias(b, &mask);
}

/* Whether one kernel can do it all: what it does not know stays apart, and so does everything under
 * exact numerics. */
static bool attention_is_whole(const hg_build *b, const hg_attention_shape *s)
{
    int64_t many, few, size;
    const hg_dims *d = &b->g->dims;
    const int64_t precision = hg_node_int(b->node, "softmax_precision", 0);
    for (uint32_t i = 0; i < 3; i++)
        if (hg_build_type(b, hg_build_in(b, i))->dtype != HOLO_F32) return false;
    return b->ctx->numerics != HOLO_EXACT && (b->ctx->flags & HOLO_COMPILE_NO_OPTIMIZE) == 0 &&
           (b->node->n_out < 4 || b->node->out[3] == 0) &&
           hg_node_float(b->node, "softcap", 0.0) == 0 &&
           (precision == 0 || precision == (int64_t)HOLO_F32) &&
           hg_dim_is_const(d, s->q_heads, &many) && hg_dim_is_const(d, s->heads, &few) && few > 0 &&
           (hg_node_attr(b->node, "scale") != NULL || hg_dim_is_const(d, s->size, &size));
}

/* Strides of x, [B, heads, rows, size] or [B, rows, heads * size]. */
static void attention_strides(hg_build *b, hg_value_id x, hg_dim heads, hg_dim size, hg_dim *out)
{
    hg_dims *d = &b->g->dims;
    const hg_type *t = hg_build_type(b, x);
    const bool by_row = t->rank == 3;
    const hg_dim rows = t->dim[by_row ? 1 : 2];
    out[0] = hg_dim_const(d, 0);
    out[1] = hg_dim_mul(d, hg_dim_mul(d, heads, rows), size);
    out[2] = by_row ? size : hg_dim_mul(d, rows, size);
    out[3] = by_row ? hg_dim_mul(d, heads, size) : size;
    out[4] = hg_dim_const(d, 1);
}

static hg_value_id attention_whole(hg_build *b, const hg_attention_shape *s, hg_value_id k,
                                   hg_value_id v, hg_value_id bias)
{
    hg_dims *d = &b->g->dims;
    const hg_attr *stated = hg_node_attr(b->node, "scale");
    int64_t size = 1;
    (void)hg_dim_is_const(d, s->size, &size);
    hg_dim shared = hg_dim_floordiv(d, s->q_heads, s->heads); /* 0 when there are no heads */
    hg_attention_spec spec = {.in = {hg_build_in(b, ATTENTION_Q), k, v, bias},
                              .size = {s->batch, s->q_heads, s->queries, s->keys, s->size,
                                       s->v_size, hg_dim_max(d, shared, hg_dim_const(d, 1))},
                              .scale = stated != NULL ? (double)stated->f
                                       : size > 0     ? 1.0 / sqrt((double)size)
                                                      : 1.0,
                              .empty = bias != 0 ? HG_ATTENTION_ZERO_MASKED : HG_ATTENTION_NAN,
                              .by_row = hg_build_type(b, hg_build_in(b, ATTENTION_Q))->rank == 3};
    if (b->status != HOLO_OK) return 0;
    attention_strides(b, spec.in[0], s->q_heads, s->size, spec.view[0]);
    attention_strides(b, k, s->heads, s->size, spec.view[1]);
    attention_strides(b, v, s->heads, s->v_size, spec.view[2]);
    hg_value_id y = hg_build_attention(b, &spec);
    if (spec.by_row == 0) return y;
    hg_dim dims[] = {s->batch, s->queries, hg_dim_mul(d, s->q_heads, s->v_size)};
    return hg_build_reshape(b, y, dims, HG_COUNT(dims));
}

/* The matrix of scores step by step. */
static hg_value_id attention_apart(hg_build *b, const hg_attention_shape *s, hg_value_id k,
                                   hg_value_id v, hg_value_id bias)
{
    const hg_attr *stated = hg_node_attr(b->node, "scale");
    const double scale = stated != NULL ? (double)stated->f : 0.0;
    hg_scores a = {
        .shape = *s,
        .q = attention_split(b, ATTENTION_Q, s->q_heads, s->size),
        .k = k,
        .v = v,
        .bias = bias,
        .scale = stated != NULL ? &scale : NULL,
        .softcap = hg_node_float(b->node, "softcap", 0.0),
        .precision = (holo_dtype)hg_node_int(b->node, "softmax_precision", 0),
        .has_empty_rows = true,
        .is_flat = hg_build_type(b, hg_build_in(b, ATTENTION_Q))->rank == 3,
    };
    hg_value_id y = hg_build_scores(b, &a);
    if (b->status == HOLO_OK && b->node->n_out > 3)
        hg_build_replace(b, 3, a.stage[hg_node_int(b->node, "qk_matmul_output_mode", 0)]);
    return y;
}

static holo_status attention_lower(hg_build *b)
{
    const hg_type *in[ATTENTION_LENGTHS + 1];
    hg_infer n = {
        .g = b->g, .ctx = b->ctx, .dims = &b->g->dims, .id = b->id, .node = b->node, .in = in};
    hg_attention_shape s = {0};
    for (uint32_t i = 0; i <= ATTENTION_LENGTHS; i++)
        in[i] = hg_build_type(b, hg_build_in(b, i));
    const holo_dtype dtype = in[ATTENTION_Q]->dtype;
    HG_TRY(attention_read(&n, &s));
    const uint32_t n_out = b->node->n_out;
    const bool is_whole = attention_is_whole(b, &s),
               splits = !is_whole || n_out > 1 || hg_build_in(b, ATTENTION_PAST_K) != 0;
    hg_value_id k = hg_build_in(b, ATTENTION_K), v = hg_build_in(b, ATTENTION_V);
    if (splits) {
        k = attention_cache(b, attention_split(b, ATTENTION_K, s.heads, s.size), ATTENTION_PAST_K);
        v = attention_cache(b, attention_split(b, ATTENTION_V, s.heads, s.v_size),
                            ATTENTION_PAST_V);
    }
    hg_value_id bias = attention_bias(b, &s, dtype);
    if (b->status != HOLO_OK) return b->status;
    hg_build_replace(b, 0, (is_whole ? attention_whole : attention_apart)(b, &s, k, v, bias));
    if (n_out > 1) hg_build_replace(b, 1, k);
    if (n_out > 2) hg_build_replace(b, 2, v);
    return b->status;
}

const hg_op hg_op_attention = {
    .name = "Attention",
    .brief = "softmax of scaled products of queries and keys, times values",
    .since = 23,
    .version = 25,
    .in = {3, 7},
    .out = {1, 4},
    .types = HG_TYPES_FLOAT,
    .infer = attention_infer,
    .lower = attention_lower,
};
