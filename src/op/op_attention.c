/* op_attention.c - pieces of scaled dot product attention. */
#include "op/op_attention.h"

#include <math.h>

/* [B, p, q, last] seen as [B, heads, rest, last]. */
static hg_value_id attention_view(hg_build *b, hg_value_id x, hg_dim heads, hg_dim rest,
                                  hg_dim last)
{
    if (b->status != HOLO_OK) return 0;
    hg_dim dims[] = {hg_build_type(b, x)->dim[0], heads, rest, last};
    if (hg_build_type(b, x)->dim[1] == heads && hg_build_type(b, x)->dim[2] == rest) return x;
    return hg_build_reshape(b, x, dims, HG_COUNT(dims));
}

/* Rows of all queries that share a head. */
static hg_dim attention_rows(hg_build *b, const hg_attention_shape *s)
{
    hg_dims *d = &b->g->dims;
    return hg_dim_floordiv(d, hg_dim_mul(d, s->q_heads, s->queries), s->heads);
}

hg_value_id hg_build_attention_scores(hg_build *b, const hg_attention_shape *s, hg_value_id q,
                                      hg_value_id k, const double *scale)
{
    int64_t size;
    double factor = scale != NULL ? *scale : 1.0;
    /* An attribute is a float32: too coarse a root for double precision. */
    const bool is_double = b->status == HOLO_OK && hg_build_type(b, q)->dtype == HOLO_F64;
    bool known = scale != NULL || (!is_double && hg_dim_is_const(&b->g->dims, s->size, &size));
    if (scale == NULL && known && size > 0) factor = 1.0 / sqrt((double)size);
    hg_attr attr[] = {hg_attr_make_int("trans_b", 1), hg_attr_make_float("alpha", factor)};
    hg_value_id in[] = {attention_view(b, q, s->heads, attention_rows(b, s), s->size), k};
    hg_value_id x = hg_build_op(b, "holo:MatMul", in, 2, attr, HG_COUNT(attr));
    if (!known) {
        /* Heads of nothing have no scale. */
        hg_dim least = hg_dim_max(&b->g->dims, s->size, hg_dim_const(&b->g->dims, 1));
        hg_value_id root =
            hg_build_cast(b, hg_build_dims(b, &least, 1), is_double ? HOLO_F64 : HOLO_F32);
        root = hg_build_1(b, "Sqrt", root);
        x = hg_build_2(b, "Div", x, hg_build_cast(b, root, hg_build_type(b, q)->dtype));
    }
    return attention_view(b, x, s->q_heads, s->queries, s->keys);
}

hg_value_id hg_build_attention_mix(hg_build *b, const hg_attention_shape *s, hg_value_id p,
                                   hg_value_id v)
{
    if (b->status != HOLO_OK) return 0;
    v = hg_build_cast(b, v, hg_build_type(b, p)->dtype);
    p = attention_view(b, p, s->heads, attention_rows(b, s), s->keys);
    return attention_view(b, hg_build_2(b, "MatMul", p, v), s->q_heads, s->queries, s->v_size);
}

hg_value_id hg_build_dim(hg_build *b, hg_dim dim)
{
    hg_value_id axis = hg_build_ints(b, (int64_t[]){0}, 1);
    return hg_build_2(b, "Squeeze", hg_build_dims(b, &dim, 1), axis);
}

hg_value_id hg_build_range(hg_build *b, hg_dim count)
{
    hg_dims *d = &b->g->dims;
    hg_value_id in[] = {hg_build_dim(b, hg_dim_const(d, 0)), hg_build_dim(b, count),
                        hg_build_dim(b, hg_dim_const(d, 1))};
    return hg_build_op(b, "Range", in, HG_COUNT(in), NULL, 0);
}

static hg_value_id attention_both(hg_build *b, hg_value_id p, hg_value_id q)
{
    return p == 0 ? q : hg_build_2(b, "And", p, q);
}

/* Keys as [keys], queries' own places as [queries, 1] or [B, 1, queries, 1]. */
static hg_value_id attention_places(hg_build *b, const hg_attention_mask *m)
{
    if (m->places != 0) return m->places;
    hg_value_id one = hg_build_ints(b, (int64_t[]){1}, 1);
    hg_value_id query = hg_build_2(b, "Unsqueeze", hg_build_range(b, m->queries), one);
    if (m->lengths == 0) return hg_build_2(b, "Add", query, hg_build_dim(b, m->past));
    hg_value_id axes = hg_build_ints(b, (int64_t[]){1, 2, 3}, 3);
    hg_value_id valid = hg_build_2(b, "Unsqueeze", m->lengths, axes);
    hg_value_id first = hg_build_2(b, "Sub", valid, hg_build_dim(b, m->queries));
    return hg_build_2(b, "Add", query, first);
}

/* Where attention is allowed by place, as bool; 0 when everywhere. */
static hg_value_id attention_allowed(hg_build *b, const hg_attention_mask *m)
{
    hg_value_id allowed = 0, key = 0;
    bool by_place = m->is_causal || m->left >= 0 || m->right >= 0;
    if (!by_place && m->lengths == 0) return 0;
    key = hg_build_range(b, m->keys);
    if (by_place) {
        hg_value_id place = attention_places(b, m), ahead = hg_build_2(b, "Sub", key, place);
        if (m->is_causal)
            allowed = hg_build_2(b, "LessOrEqual", ahead, hg_build_scalar(b, HOLO_I64, 0.0));
        if (m->right >= 0)
            allowed = attention_both(b, allowed,
                                     hg_build_2(b, "LessOrEqual", ahead,
                                                hg_build_scalar(b, HOLO_I64, (double)m->right)));
        if (m->left >= 0)
            allowed = attention_both(b, allowed,
                                     hg_build_2(b, "GreaterOrEqual", ahead,
                                                hg_build_scalar(b, HOLO_I64, -(double)m->left)));
    }
    if (m->lengths == 0) return allowed;
    hg_value_id axes = hg_build_ints(b, (int64_t[]){1, 2, 3}, 3);
    hg_value_id valid = hg_build_2(b, "Unsqueeze", m->lengths, axes);
    return attention_both(b, allowed, hg_build_2(b, "Less", key, valid));
}

/* A mask that is shorter than the keys forbids the rest. */
static hg_value_id attention_pad(hg_build *b, const hg_attention_mask *m, hg_value_id mask,
                                 hg_value_id none)
{
    hg_dims *d = &b->g->dims;
    const hg_type type = *hg_build_type(b, mask);
    if (type.rank == 0) return mask;
    hg_dim last = type.dim[type.rank - 1];
    if (last == m->keys || hg_dim_is(d, last, 1)) return mask;
    hg_dim pads[2 * HG_MAX_RANK];
    for (int32_t i = 0; i < 2 * type.rank; i++)
        pads[i] = hg_dim_const(d, 0);
    pads[2 * type.rank - 1] = hg_dim_sub(d, m->keys, last);
    return hg_build_3(b, "Pad", mask, hg_build_dims(b, pads, 2 * (uint32_t)type.rank), none);
}

hg_value_id hg_build_attention_bias(hg_build *b, const hg_attention_mask *m)
{
    hg_value_id none = hg_build_scalar(b, m->dtype, -(double)INFINITY);
    hg_value_id bias = m->mask, allowed = attention_allowed(b, m);
    if (bias != 0 && b->status == HOLO_OK) {
        hg_value_id zero = hg_build_scalar(b, m->dtype, 0.0);
        if (hg_build_type(b, bias)->dtype == HOLO_BOOL)
            bias = hg_build_3(b, "Where", bias, zero, none);
        bias = attention_pad(b, m, hg_build_cast(b, bias, m->dtype), none);
    }
    if (allowed == 0) return bias;
    if (bias == 0) bias = hg_build_scalar(b, m->dtype, 0.0);
    return hg_build_3(b, "Where", allowed, bias, none);
}

hg_value_id hg_build_attention(hg_build *b, const hg_attention_spec *s)
{
    const hg_attr attr[] = {
        hg_attr_make_dims(b, "sizes", s->size, HG_COUNT(s->size)),
        hg_attr_make_dims(b, "q", s->view[0], HG_COUNT(s->view[0])),
        hg_attr_make_dims(b, "k", s->view[1], HG_COUNT(s->view[1])),
        hg_attr_make_dims(b, "v", s->view[2], HG_COUNT(s->view[2])),
        hg_attr_make_float("scale", s->scale),
        hg_attr_make_int("by_row", s->by_row),
        hg_attr_make_int("empty", s->empty),
        hg_attr_make_int("drops", s->drops),
        hg_attr_make_float("fill", s->fill),
    };
    const uint32_t n_attr = s->in[4] != 0 ? HG_COUNT(attr) : HG_COUNT(attr) - 2;
    const uint32_t n_in = s->in[4] != 0 ? 5 : s->in[3] != 0 ? 4 : 3;
    return hg_build_op(b, "holo:Attention", s->in, n_in, attr, n_attr);
}
