/* attention.c - com.microsoft:Attention: queries, keys and values of an input by one product, then
 * softmax(Q K' scale + bias) V, by heads. */
#include "op/op_matmul.h"
#include "op/op_mha.h"

enum { ATT_X, ATT_WEIGHTS, ATT_BIAS, ATT_MASK, ATT_PAST, ATT_SCORE_BIAS, ATT_PAST_LENGTH };

/* Widths of queries, keys and values; queries and keys have the same. */
static holo_status att_widths(const hg_infer *n, hg_dim width[3])
{
    const int64_t *stated;
    size_t count;
    HG_TRY(hg_attr_ints(n, "qkv_hidden_sizes", &stated, &count));
    if (count == 0) {
        hg_dim third =
            hg_dim_floordiv(n->dims, n->in[ATT_WEIGHTS]->dim[1], hg_dim_const(n->dims, 3));
        width[0] = width[1] = width[2] = third;
        return HOLO_OK;
    }
    if (count != 3 || stated[0] != stated[1] || stated[0] < 1 || stated[2] < 1)
        return hg_infer_fail(
            n, HOLO_E_MODEL,
            "qkv_hidden_sizes has %zu numbers, expected three, the first two equal", count);
    for (size_t i = 0; i < 3; i++)
        width[i] = hg_dim_const(n->dims, stated[i]);
    return HOLO_OK;
}

static holo_status att_read(const hg_infer *n, hg_mha *m, hg_dim width[3])
{
    const hg_dim *length;
    uint32_t count;
    *m = (hg_mha){.past = hg_dim_const(n->dims, 0)};
    HG_TRY(hg_mha_heads(n, "num_heads", &m->heads));
    HG_TRY(att_widths(n, width));
    m->batch = n->in[ATT_X]->dim[0];
    m->queries = m->now = n->in[ATT_X]->dim[1];
    HG_TRY(hg_mha_divide(n, width[0], m->heads, &m->size));
    HG_TRY(hg_mha_divide(n, width[2], m->heads, &m->v_size));
    if (!hg_infer_has(n, ATT_PAST)) return HOLO_OK;
    m->past = n->in[ATT_PAST]->dim[3];
    if (hg_node_int(n->node, "past_present_share_buffer", 0) == 0) return HOLO_OK;
    HG_TRY(hg_infer_need_content(n, ATT_PAST_LENGTH, &length, &count));
    if (count != 1)
        return hg_infer_fail(n, HOLO_E_SHAPE, "past_sequence_length has %u elements, expected 1",
                             count);
    m->most = m->past;
    m->past = length[0];
    return HOLO_OK;
}

static holo_status att_check(const hg_infer *n)
{
    int64_t flag, rotary;
    HG_TRY(hg_mha_check(n));
    HG_TRY(hg_attr_int(n, "past_present_share_buffer", 0, &flag));
    HG_TRY(hg_attr_int(n, "do_rotary", 0, &rotary));
    HG_TRY(hg_infer_rank(n, ATT_X, 3, 3));
    HG_TRY(hg_infer_rank(n, ATT_WEIGHTS, 2, 2));
    static const struct {
        uint8_t input, low, high;
    } floats[] = {{ATT_WEIGHTS, 2, 2}, {ATT_BIAS, 1, 1}, {ATT_PAST, 5, 5}, {ATT_SCORE_BIAS, 4, 4}};
    for (size_t k = 0; k < HG_COUNT(floats); k++) {
        if (!hg_infer_has(n, floats[k].input)) continue;
        HG_TRY(hg_infer_same_type(n, ATT_X, floats[k].input));
        HG_TRY(hg_infer_rank(n, floats[k].input, floats[k].low, floats[k].high));
    }
    if (hg_infer_has(n, ATT_MASK)) {
        HG_TRY(hg_infer_types(n, ATT_MASK, HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_infer_rank(n, ATT_MASK, 1, 4));
    }
    if (rotary != 0) return hg_infer_fail(n, HOLO_E_UNSUPPORTED, "do_rotary is not supported");
    return HOLO_OK;
}

static holo_status att_infer(hg_infer *n)
{
    hg_mha m;
    hg_dim width[3];
    hg_type product;
    HG_TRY(att_check(n));
    HG_TRY(att_read(n, &m, width));
    HG_TRY(hg_matmul_shape(n, n->in[ATT_X], n->in[ATT_WEIGHTS], &product));
    hg_dim all = hg_dim_add(n->dims, hg_dim_add(n->dims, width[0], width[1]), width[2]);
    if (!hg_infer_equal(n, product.dim[2], all))
        return hg_infer_fail(n, HOLO_E_SHAPE, "the weights do not have the columns of Q, K and V");
    const holo_dtype dtype = n->in[ATT_X]->dtype;
    n->out[0] = (hg_type){.dtype = dtype, .rank = 3, .dim = {m.batch, m.queries, width[2]}};
    if (n->n_out < 2) return HOLO_OK;
    if (!hg_infer_equal(n, m.size, m.v_size))
        return hg_infer_fail(n, HOLO_E_SHAPE, "a cache needs keys and values of the same size");
    hg_dim cached = m.most == 0 ? hg_mha_total(n->dims, &m) : m.most;
    n->out[1] = (hg_type){
        .dtype = dtype,
        .rank = 5,
        .dim = {hg_dim_const(n->dims, 2), m.batch, hg_dim_const(n->dims, m.heads), cached, m.size}};
    return HOLO_OK;
}

/* Queries, keys and values, [B, S, width] each, by heads. */
static void att_project(hg_build *b, const hg_mha *m, const hg_dim width[3], hg_value_id qkv[3])
{
    hg_dims *d = &b->g->dims;
    hg_value_id bias = hg_build_in(b, ATT_BIAS);
    hg_value_id x = hg_build_2(b, "MatMul", hg_build_in(b, ATT_X), hg_build_in(b, ATT_WEIGHTS));
    hg_dim begin = hg_dim_const(d, 0);
    if (bias != 0) x = hg_build_2(b, "Add", x, bias);
    for (uint32_t i = 0; i < 3; i++) {
        hg_dim end = hg_dim_add(d, begin, width[i]);
        qkv[i] = hg_build_heads(b, hg_build_part(b, x, 2, begin, end), hg_dim_const(d, m->heads),
                                i == 2 ? m->v_size : m->size);
        begin = end;
    }
}

/* Keys (0) or values (1) of the past, [B, heads, past, size]. */
static hg_value_id att_past(hg_build *b, int64_t which)
{
    hg_value_id past = hg_build_in(b, ATT_PAST);
    return past == 0 ? 0
                     : hg_build_2(b, "Gather", past, hg_build_scalar(b, HOLO_I64, (double)which));
}

static holo_status att_lower(hg_build *b)
{
    hg_infer n;
    hg_mha m;
    hg_dim width[3];
    hg_value_id qkv[3], present[2];
    HG_TRY(hg_build_reader(b, &n));
    HG_TRY(att_read(&n, &m, width));
    att_project(b, &m, width, qkv);
    for (uint32_t i = 0; i < 2; i++)
        qkv[1 + i] = hg_build_mha_cache(b, &m, att_past(b, i), qkv[1 + i], &present[i]);
    hg_value_id bias =
        hg_build_mha_bias(b, &m, hg_build_in(b, ATT_MASK), hg_build_in(b, ATT_SCORE_BIAS));
    hg_build_replace(b, 0, hg_build_mha(b, &m, qkv, bias, NULL));
    if (b->status != HOLO_OK || b->node->n_out < 2) return b->status;
    hg_attr axis = hg_attr_make_int("axis", 0);
    hg_value_id first = hg_build_ints(b, (int64_t[]){0}, 1);
    for (uint32_t i = 0; i < 2; i++)
        present[i] = hg_build_2(b, "Unsqueeze", present[i], first);
    hg_build_replace(b, 1, hg_build_op(b, "Concat", present, 2, &axis, 1));
    return b->status;
}

const hg_op hg_op_microsoft_attention = {
    .name = "Attention",
    .domain = "com.microsoft",
    .brief = "queries, keys and values of an input by one product, then attention by heads",
    .since = 1,
    .in = {2, 7},
    .out = {1, 2},
    .types = HG_TYPES_FLOAT,
    .infer = att_infer,
    .lower = att_lower,
};
