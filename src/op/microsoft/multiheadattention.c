/* multiheadattention.c - com.microsoft:MultiHeadAttention: softmax(Q K' scale + bias) V, by heads.
 *
 *   query            key                  value
 *   [B, S, D]        [B, L, D]            [B, L, Dv]
 *   [B, S, D]        [B, heads, L, size]  [B, heads, L, v_size]
 *   [B, S, D]        [B, L, heads, 2, size], keys and values
 *   [B, S, heads, 3, size], all three */
#include "op/op_mha.h"

enum {
    MHA_Q,
    MHA_K,
    MHA_V,
    MHA_BIAS,
    MHA_MASK,
    MHA_SCORE_BIAS,
    MHA_PAST_K,
    MHA_PAST_V,
    MHA_PAST_LENGTH,
    MHA_BEAMS
};

/* Sizes by the layout of the inputs. */
static holo_status mha_layout(const hg_infer *n, hg_mha *m)
{
    const hg_type *q = n->in[MHA_Q], *k = n->in[MHA_K], *v = n->in[MHA_V];
    m->batch = q->dim[0];
    m->queries = m->now = q->dim[1];
    if (q->rank == 5) {
        m->size = m->v_size = q->dim[4];
        return HOLO_OK;
    }
    HG_TRY(hg_mha_divide(n, q->dim[2], m->heads, &m->size));
    m->v_size = m->size;
    m->now = k->dim[k->rank == 4 ? 2 : 1];
    if (k->rank == 4) m->v_size = v->dim[3];
    if (k->rank == 3) return hg_mha_divide(n, v->dim[2], m->heads, &m->v_size);
    return HOLO_OK;
}

static holo_status mha_read(const hg_infer *n, hg_mha *m)
{
    const hg_dim *length;
    uint32_t count;
    *m = (hg_mha){.past = hg_dim_const(n->dims, 0)};
    HG_TRY(hg_mha_heads(n, "num_heads", &m->heads));
    HG_TRY(mha_layout(n, m));
    if (!hg_infer_has(n, MHA_PAST_K)) return HOLO_OK;
    m->past = n->in[MHA_PAST_K]->dim[2];
    if (!hg_infer_has(n, MHA_PAST_LENGTH)) return HOLO_OK;
    HG_TRY(hg_infer_need_content(n, MHA_PAST_LENGTH, &length, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "past_sequence_length has %u elements, expected 1",
                             count);
    m->most = m->past;
    m->past = length[0];
    return HOLO_OK;
}

/* Ranks and which inputs come together. */
static holo_status mha_check_inputs(const hg_infer *n)
{
    const bool has_k = hg_infer_has(n, MHA_K), has_v = hg_infer_has(n, MHA_V);
    for (uint32_t i = MHA_K; i < n->n_in; i++)
        if (hg_infer_has(n, i) && i != MHA_MASK && i < MHA_PAST_LENGTH)
            HG_TRY(hg_infer_same_type(n, MHA_Q, i));
    if (n->in[MHA_Q]->rank != 5) HG_TRY(hg_infer_rank(n, MHA_Q, 3, 3));
    if (has_k == (n->in[MHA_Q]->rank == 5))
        return hg_infer_fail(
            n, HOLO_E_MODEL,
            "a query of rank %d, expected one of rank 3 with keys or one of rank 5 "
            "without",
            n->in[MHA_Q]->rank);
    if (has_k) HG_TRY(hg_infer_rank(n, MHA_K, 3, 5));
    if (has_v != (has_k && n->in[MHA_K]->rank != 5))
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "values must come with keys of rank 3 or 4 and with no others");
    if (has_v) HG_TRY(hg_infer_rank(n, MHA_V, n->in[MHA_K]->rank, n->in[MHA_K]->rank));
    if (hg_infer_has(n, MHA_BIAS)) HG_TRY(hg_infer_rank(n, MHA_BIAS, 1, 1));
    if (hg_infer_has(n, MHA_SCORE_BIAS)) HG_TRY(hg_infer_rank(n, MHA_SCORE_BIAS, 4, 4));
    if (hg_infer_has(n, MHA_MASK)) {
        HG_TRY(hg_infer_types(n, MHA_MASK, HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_infer_rank(n, MHA_MASK, 1, 3));
    }
    if (hg_infer_has(n, MHA_PAST_K) != hg_infer_has(n, MHA_PAST_V))
        return hg_infer_fail(n, HOLO_E_MODEL, "past_key and past_value must come together");
    for (uint32_t i = MHA_PAST_K; i <= MHA_PAST_V; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_rank(n, i, 4, 4));
    if (!hg_infer_has(n, MHA_BEAMS)) return HOLO_OK;
    HG_TRY(hg_infer_types(n, MHA_BEAMS, HG_TYPE_BIT(HOLO_I32)));
    return hg_infer_rank(n, MHA_BEAMS, 3, 3);
}

/* Groups of beams are the batch, and places those of the cache. */
static holo_status mha_check_beams(const hg_infer *n, const hg_mha *m)
{
    if (!hg_infer_has(n, MHA_BEAMS) || m->most == 0) return HOLO_OK;
    const hg_dim *dim = n->in[MHA_BEAMS]->dim;
    if (hg_infer_equal(n, hg_dim_mul(n->dims, dim[0], dim[1]), m->batch) &&
        hg_infer_equal(n, dim[2], m->most))
        return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_SHAPE,
                         "cache_indirection does not have the beams of the batch and the places of "
                         "past_key");
}

static holo_status mha_infer(hg_infer *n)
{
    hg_mha m;
    HG_TRY(hg_mha_check(n));
    HG_TRY(mha_check_inputs(n));
    HG_TRY(mha_read(n, &m));
    HG_TRY(mha_check_beams(n, &m));
    const holo_dtype dtype = n->in[MHA_Q]->dtype;
    hg_dim heads = hg_dim_const(n->dims, m.heads), total = hg_mha_total(n->dims, &m);
    hg_dim cached = m.most == 0 ? total : m.most;
    n->out[0] = (hg_type){.dtype = dtype,
                          .rank = 3,
                          .dim = {m.batch, m.queries, hg_dim_mul(n->dims, heads, m.v_size)}};
    const hg_type more[] = {
        {.dtype = dtype, .rank = 4, .dim = {m.batch, heads, cached, m.size}},
        {.dtype = dtype, .rank = 4, .dim = {m.batch, heads, cached, m.v_size}},
        {.dtype = dtype, .rank = 4, .dim = {m.batch, heads, m.queries, total}},
    };
    for (uint32_t j = 1; j < n->n_out; j++)
        n->out[j] = more[j - 1];
    return HOLO_OK;
}

/* Elements [begin, begin + heads * size) of the bias; 0 when there is none. */
static hg_value_id mha_bias(hg_build *b, const hg_mha *m, hg_dim begin, hg_dim size)
{
    hg_dims *d = &b->g->dims;
    hg_value_id bias = hg_build_in(b, MHA_BIAS);
    hg_dim end = hg_dim_add(d, begin, hg_dim_mul(d, size, hg_dim_const(d, m->heads)));
    return bias == 0 ? 0 : hg_build_part(b, bias, 0, begin, end);
}

/* Tensor `at` of those that lie side by side in x, [B, L, heads, n, size]: [B, heads, L, size]. */
static hg_value_id mha_packed(hg_build *b, const hg_mha *m, hg_value_id x, int64_t at,
                              hg_value_id bias)
{
    hg_attr axis = hg_attr_make_int("axis", 3);
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1, 3}, 4);
    hg_value_id in[] = {x, hg_build_scalar(b, HOLO_I64, (double)at)};
    hg_value_id y = hg_build_op(b, "Gather", in, 2, &axis, 1);
    hg_dim dims[] = {hg_dim_const(&b->g->dims, m->heads), m->size};
    if (bias != 0) y = hg_build_2(b, "Add", y, hg_build_reshape(b, bias, dims, 2));
    return hg_build_op(b, "Transpose", &y, 1, &perm, 1);
}

/* Queries, keys and values (which 0, 1, 2) by heads. */
static hg_value_id mha_by_heads(hg_build *b, const hg_mha *m, uint32_t which)
{
    hg_dims *d = &b->g->dims;
    hg_dim heads = hg_dim_const(d, m->heads), width = hg_dim_mul(d, heads, m->size);
    hg_dim begin = hg_dim_mul(d, width, hg_dim_const(d, which));
    hg_value_id q = hg_build_in(b, MHA_Q), k = hg_build_in(b, MHA_K), x = hg_build_in(b, which);
    hg_dim size = which == MHA_V ? m->v_size : m->size;
    if (which != MHA_Q && hg_build_type(b, k)->rank == 4) return x; /* these come without a bias */
    hg_value_id bias = mha_bias(b, m, begin, size);
    if (hg_build_type(b, q)->rank == 5) return mha_packed(b, m, q, which, bias);
    if (which != MHA_Q && hg_build_type(b, k)->rank == 5)
        return mha_packed(b, m, k, (int64_t)which - 1, bias);
    if (bias != 0) x = hg_build_2(b, "Add", x, bias);
    return hg_build_heads(b, x, heads, size);
}

static holo_status mha_lower(hg_build *b)
{
    hg_infer n;
    hg_mha m;
    HG_TRY(hg_build_reader(b, &n));
    HG_TRY(mha_read(&n, &m));
    hg_value_id qkv[3], present[3] = {0}, scores;
    if (m.most != 0) m.beams = hg_build_in(b, MHA_BEAMS);
    for (uint32_t i = 0; i < 3; i++)
        qkv[i] = mha_by_heads(b, &m, i);
    for (uint32_t i = 1; i < 3; i++)
        qkv[i] = hg_build_mha_cache(b, &m, hg_build_in(b, MHA_PAST_K + i - 1), qkv[i], &present[i]);
    hg_value_id bias =
        hg_build_mha_bias(b, &m, hg_build_in(b, MHA_MASK), hg_build_in(b, MHA_SCORE_BIAS));
    hg_build_replace(b, 0, hg_build_mha(b, &m, qkv, bias, &scores));
    if (b->status != HOLO_OK) return b->status;
    const uint32_t n_out = b->node->n_out;
    if (n_out > 1) hg_build_replace(b, 1, present[1]);
    if (n_out > 2) hg_build_replace(b, 2, present[2]);
    if (n_out > 3) hg_build_replace(b, 3, scores);
    return b->status;
}

const hg_op hg_op_microsoft_multiheadattention = {
    .name = "MultiHeadAttention",
    .domain = "com.microsoft",
    .brief = "softmax of scaled products of queries and keys, times values, by heads",
    .since = 1,
    .in = {1, 10},
    .out = {1, 4},
    .types = HG_TYPES_FLOAT,
    .infer = mha_infer,
    .lower = mha_lower,
};
