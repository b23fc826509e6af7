/* linearattention.c - LinearAttention: attention by a state that is updated token by token. */
#include "kernel/linearattention.h"

#include "op/op_shape.h"

enum { LINEAR_Q, LINEAR_K, LINEAR_V, LINEAR_PAST, LINEAR_DECAY, LINEAR_RATE, LINEAR_INS };

#define LINEAR_TYPES (HG_TYPES_FLOAT & ~HG_TYPE_BIT(HOLO_F64))

typedef struct linear_shape {
    int64_t q_heads, heads;
    hg_dim key, value; /* elements of one key and one value */
    hg_dim fits;       /* 1 when everything agrees */
} linear_shape;

static holo_status linear_heads(const hg_infer *n, const char *name, int64_t *out)
{
    HG_TRY(hg_attr_int(n, name, 0, out));
    if (*out < 1 || *out > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected at least 1", name,
                             (long long)*out);
    return HOLO_OK;
}

/* Elements of one head; the whole is refused when it has a rest. */
static holo_status linear_size(const hg_infer *n, uint32_t i, int64_t heads, linear_shape *s,
                               hg_dim *out)
{
    const hg_dim whole = n->in[i]->dim[2], count = hg_dim_const(n->dims, heads);
    int64_t size;
    if (hg_dim_is_const(n->dims, whole, &size) && size % heads != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has %lld elements for %lld heads", i,
                             (long long)size, (long long)heads);
    *out = hg_dim_floordiv(n->dims, whole, count);
    hg_dim even = hg_dim_eq(n->dims, hg_dim_mul(n->dims, *out, count), whole);
    s->fits = hg_shape_and(n->dims, s->fits, even);
    return HOLO_OK;
}

static holo_status linear_rule(const hg_infer *n)
{
    hg_str rule;
    int64_t chunk;
    double scale;
    HG_TRY(hg_attr_int(n, "chunk_size", 64, &chunk)); /* a hint for other ways to compute it */
    HG_TRY(hg_attr_float(n, "scale", 0.0, &scale));
    HG_TRY(hg_attr_string(n, "update_rule", "gated_delta", &rule));
    const bool gated = hg_str_is(rule, "gated") || hg_str_is(rule, "gated_delta");
    const bool delta = hg_str_is(rule, "delta") || hg_str_is(rule, "gated_delta");
    if (!gated && !delta && !hg_str_is(rule, "linear"))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "update_rule is \"%.*s\", expected linear, gated, delta or "
                             "gated_delta",
                             HG_STR_ARG(rule));
    if (gated != hg_infer_has(n, LINEAR_DECAY))
        return hg_infer_fail(n, HOLO_E_MODEL, "update_rule \"%.*s\" and a decay that is %s",
                             HG_STR_ARG(rule), gated ? "missing" : "present");
    if (delta != hg_infer_has(n, LINEAR_RATE))
        return hg_infer_fail(n, HOLO_E_MODEL, "update_rule \"%.*s\" and a beta that is %s",
                             HG_STR_ARG(rule), delta ? "missing" : "present");
    return HOLO_OK;
}

static holo_status linear_read(const hg_infer *n, linear_shape *s)
{
    *s = (linear_shape){.fits = hg_dim_const(n->dims, 1)};
    HG_TRY(linear_heads(n, "q_num_heads", &s->q_heads));
    HG_TRY(linear_heads(n, "kv_num_heads", &s->heads));
    if (s->q_heads % s->heads != 0)
        return hg_infer_fail(n, HOLO_E_MODEL, "q_num_heads is %lld, expected a multiple of %lld",
                             (long long)s->q_heads, (long long)s->heads);
    for (uint32_t i = LINEAR_Q; i < LINEAR_INS; i++) {
        if (i == LINEAR_PAST || !hg_infer_has(n, i)) continue;
        HG_TRY(hg_infer_rank(n, i, 3, 3));
        HG_TRY(hg_infer_same_type(n, i, LINEAR_Q));
    }
    HG_TRY(linear_size(n, LINEAR_Q, s->q_heads, s, &s->key));
    return linear_size(n, LINEAR_V, s->heads, s, &s->value);
}

/* A tensor of tokens whose last dimension is one of two. */
static holo_status linear_tokens(const hg_infer *n, uint32_t i, hg_dim size, hg_dim other,
                                 hg_dim *fits)
{
    const hg_type *q = n->in[LINEAR_Q];
    if (!hg_infer_has(n, i)) return HOLO_OK;
    const hg_dim last = n->in[i]->dim[2];
    hg_dim dim[] = {q->dim[0], q->dim[1], hg_infer_may_equal(n, last, other) ? last : size};
    HG_TRY(hg_shape_expect(n, i, dim, 3, fits));
    return HOLO_OK; /* which of the two, the kernel sees */
}

static holo_status linear_infer(hg_infer *n)
{
    linear_shape s;
    hg_dims *d = n->dims;
    HG_TRY(linear_rule(n));
    HG_TRY(linear_read(n, &s));
    const hg_type *q = n->in[LINEAR_Q];
    hg_dim heads = hg_dim_const(d, s.heads), keys = hg_dim_mul(d, heads, s.key);
    hg_dim state[] = {q->dim[0], heads, s.key, s.value};
    HG_TRY(linear_tokens(n, LINEAR_K, keys, keys, &s.fits));
    HG_TRY(linear_tokens(n, LINEAR_V, n->in[LINEAR_V]->dim[2], n->in[LINEAR_V]->dim[2], &s.fits));
    HG_TRY(linear_tokens(n, LINEAR_DECAY, heads, keys, &s.fits));
    HG_TRY(linear_tokens(n, LINEAR_RATE, heads, hg_dim_const(d, 1), &s.fits));
    n->out[0] = *q;
    n->out[0].dim[2] = hg_dim_mul(d, hg_dim_const(d, s.q_heads), s.value);
    if (hg_infer_has(n, LINEAR_PAST)) {
        HG_TRY(hg_infer_types(n, LINEAR_PAST, LINEAR_TYPES));
        HG_TRY(hg_shape_expect(n, LINEAR_PAST, state, 4, &s.fits));
    }
    hg_shape_require(d, s.fits, &n->out[0]);
    if (n->n_out == 1) return HOLO_OK;
    n->out[1] = (hg_type){.rank = 4, .dtype = n->in[LINEAR_Q]->dtype};
    if (hg_infer_has(n, LINEAR_PAST)) n->out[1].dtype = n->in[LINEAR_PAST]->dtype;
    memcpy(n->out[1].dim, state, sizeof state);
    return HOLO_OK;
}

static holo_status linear_emit(hg_emit *e)
{
    for (; e->n_in < LINEAR_INS; e->n_in++)
        e->in[e->n_in] = 0;
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "q_num_heads", 1)));
    HG_TRY(hg_emit_int(e, hg_node_int(e->node, "kv_num_heads", 1)));
    return hg_emit_float(e, hg_node_float(e->node, "scale", 0.0));
}

const hg_op hg_op_linearattention = {
    .name = "LinearAttention",
    .brief = "attention by a state that is updated token by token",
    .since = 27,
    .in = {3, 6},
    .out = {1, 2},
    .types = LINEAR_TYPES,
    .infer = linear_infer,
    .kernel = "linearattention",
    .emit = linear_emit,
};
