/* op_scores.c - attention step by step: the matrix of scores and what becomes of it. */
#include "op/op_scores.h"

#include <math.h>

hg_value_id hg_build_heads(hg_build *b, hg_value_id x, hg_dim heads, hg_dim size)
{
    if (b->status != HOLO_OK) return 0;
    const hg_type type = *hg_build_type(b, x);
    hg_dim dims[] = {type.dim[0], type.dim[1], heads, size};
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1, 3}, 4);
    x = hg_build_reshape(b, x, dims, HG_COUNT(dims));
    return hg_build_op(b, "Transpose", &x, 1, &perm, 1);
}

static hg_value_id scores_cap(hg_build *b, hg_value_id x, double cap)
{
    if (cap == 0.0 || b->status != HOLO_OK) return x;
    hg_value_id most = hg_build_scalar(b, hg_build_type(b, x)->dtype, cap);
    return hg_build_2(b, "Mul", hg_build_1(b, "Tanh", hg_build_2(b, "Div", x, most)), most);
}

/* The sink as one more column of the scores x. */
static hg_value_id scores_with_sink(hg_build *b, const hg_scores *a, hg_value_id x)
{
    const hg_attention_shape *s = &a->shape;
    hg_attr axis = hg_attr_make_int("axis", -1);
    hg_dim column[] = {s->batch, s->q_heads, s->queries, hg_dim_const(&b->g->dims, 1)};
    hg_value_id in[] = {x, hg_build_2(b, "Expand",
                                      hg_build_cast(b, a->sink, hg_build_type(b, x)->dtype),
                                      hg_build_dims(b, column, HG_COUNT(column)))};
    return hg_build_op(b, "Concat", in, 2, &axis, 1);
}

/* Softmax of each row. */
static hg_value_id scores_softmax(hg_build *b, const hg_scores *a, hg_value_id x)
{
    hg_attr axis = hg_attr_make_int("axis", -1);
    holo_dtype dtype = hg_build_type(b, x)->dtype;
    hg_value_id y = a->precision == HOLO_NONE ? x : hg_build_cast(b, x, a->precision);
    if (a->sink != 0) y = scores_with_sink(b, a, y);
    y = hg_build_cast(b, hg_build_op(b, "Softmax", &y, 1, &axis, 1), dtype);
    if (a->sink != 0) {
        hg_value_id in[] = {y, hg_build_ints(b, (int64_t[]){0}, 1),
                            hg_build_dims(b, &a->shape.keys, 1),
                            hg_build_ints(b, (int64_t[]){3}, 1)};
        y = hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
    }
    if (a->bias == 0 || !a->has_empty_rows) return y;
    hg_value_id last = hg_build_ints(b, (int64_t[]){-1}, 1), zero = hg_build_scalar(b, dtype, 0.0);
    hg_value_id most = hg_build_2(b, "ReduceMax", a->bias, last);
    hg_value_id none = hg_build_scalar(b, dtype, -(double)INFINITY);
    return hg_build_3(b, "Where", hg_build_2(b, "Equal", most, none), zero, y);
}

/* [B, heads, S, size] as [B, S, heads * size]. */
static hg_value_id scores_join(hg_build *b, const hg_attention_shape *s, hg_value_id y)
{
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1, 3}, 4);
    hg_dim dims[] = {s->batch, s->queries, hg_dim_mul(&b->g->dims, s->q_heads, s->v_size)};
    y = hg_build_op(b, "Transpose", &y, 1, &perm, 1);
    return hg_build_reshape(b, y, dims, HG_COUNT(dims));
}

static void scores_widen(hg_build *b, hg_scores *a)
{
    hg_value_id *in[] = {&a->q, &a->k, &a->v, &a->bias, &a->sink};
    for (size_t i = 0; i < HG_COUNT(in); i++)
        *in[i] = hg_build_wide(b, *in[i]);
}

hg_value_id hg_build_scores(hg_build *b, hg_scores *a)
{
    hg_value_id *stage = a->stage;
    const holo_dtype dtype = hg_build_type(b, a->q)->dtype;
    if (a->is_wide) scores_widen(b, a);
    stage[HG_SCORES_RAW] = hg_build_attention_scores(b, &a->shape, a->q, a->k, a->scale);
    stage[HG_SCORES_CAPPED] = scores_cap(b, stage[HG_SCORES_RAW], a->softcap);
    stage[HG_SCORES_BIASED] = stage[HG_SCORES_CAPPED];
    if (a->bias != 0)
        stage[HG_SCORES_BIASED] = hg_build_2(b, "Add", stage[HG_SCORES_CAPPED], a->bias);
    if (b->status != HOLO_OK) return 0;
    stage[HG_SCORES_SOFTMAX] = scores_softmax(b, a, stage[HG_SCORES_BIASED]);
    hg_value_id y = hg_build_attention_mix(b, &a->shape, stage[HG_SCORES_SOFTMAX], a->v);
    for (size_t i = 0; i < HG_COUNT(a->stage); i++)
        stage[i] = hg_build_cast(b, stage[i], dtype);
    y = hg_build_cast(b, y, dtype);
    return a->is_flat ? scores_join(b, &a->shape, y) : y;
}
