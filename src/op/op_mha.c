/* op_mha.c - what the attention operators of com.microsoft share: masks of integers and caches. */
#include "op/op_mha.h"

#define MHA_FILTER -10000.0 /* mask_filter_value unless stated */

holo_status hg_mha_heads(const hg_infer *n, const char *name, int64_t *heads)
{
    HG_TRY(hg_attr_int(n, name, 0, heads));
    if (*heads >= 1 && *heads <= INT32_MAX) return HOLO_OK;
    return hg_infer_fail(n, HOLO_E_MODEL, "%s is %lld, expected at least 1", name,
                         (long long)*heads);
}

holo_status hg_mha_check(const hg_infer *n)
{
    double number;
    int64_t flag;
    HG_TRY(hg_attr_float(n, "mask_filter_value", MHA_FILTER, &number));
    HG_TRY(hg_attr_float(n, "scale", 0.0, &number));
    return hg_attr_int(n, "unidirectional", 0, &flag);
}

holo_status hg_mha_divide(const hg_infer *n, hg_dim columns, int64_t heads, hg_dim *size)
{
    int64_t count;
    if (hg_dim_is_const(n->dims, columns, &count) && count % heads != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld columns cannot be divided into %lld heads",
                             (long long)count, (long long)heads);
    const hg_dim by = hg_dim_const(n->dims, heads), none = hg_dim_const(n->dims, 0);
    (void)hg_infer_equal(n, hg_dim_mod(n->dims, columns, by), none); /* at run time, if not now */
    *size = hg_dim_floordiv(n->dims, columns, by);
    return HOLO_OK;
}

hg_dim hg_mha_total(hg_dims *d, const hg_mha *m)
{
    return hg_dim_add(d, m->past, m->now);
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Where keys lie in [first, end) of their row of the batch: bool [B, 1, 1, T]. */
static hg_value_id mha_within(hg_build *b, const hg_mha *m, hg_value_id ends, hg_value_id firsts)
{
    hg_value_id axes = hg_build_ints(b, (int64_t[]){1, 2, 3}, 3);
    hg_value_id key = hg_build_range(b, hg_mha_total(&b->g->dims, m));
    hg_value_id end = hg_build_2(b, "Unsqueeze", hg_build_cast(b, ends, HOLO_I64), axes);
    hg_value_id within = hg_build_2(b, "Less", key, end);
    if (firsts == 0) return within;
    hg_value_id first = hg_build_2(b, "Unsqueeze", hg_build_cast(b, firsts, HOLO_I64), axes);
    return hg_build_2(b, "And", within, hg_build_2(b, "GreaterOrEqual", key, first));
}

/* A mask of rank 1 holds ends and, when it is twice as long as the batch, beginnings behind them.
 * Which it is may be known at run time alone: then beginnings are read behind zeros. */
static hg_value_id mha_by_length(hg_build *b, const hg_mha *m, hg_value_id mask)
{
    hg_dims *d = &b->g->dims;
    hg_attr axis = hg_attr_make_int("axis", 0);
    hg_dim length = hg_build_type(b, mask)->dim[0], none = hg_dim_const(d, 0);
    if (length == m->batch) return mha_within(b, m, mask, 0);
    hg_value_id ends = hg_build_part(b, mask, 0, none, m->batch);
    hg_dim has_firsts = hg_dim_eq(d, length, hg_dim_mul(d, m->batch, hg_dim_const(d, 2)));
    if (hg_dim_is(d, has_firsts, 0)) return mha_within(b, m, ends, 0);
    hg_value_id zeros =
        hg_build_2(b, "Expand", hg_build_scalar(b, HOLO_I32, 0.0), hg_build_dims(b, &m->batch, 1));
    hg_value_id both[] = {mask, zeros};
    hg_value_id firsts = hg_build_op(b, "Concat", both, 2, &axis, 1);
    hg_dim from = hg_dim_select(d, has_firsts, m->batch, length);
    return mha_within(b, m, ends, hg_build_part(b, firsts, 0, from, hg_dim_add(d, from, m->batch)));
}

/* Where attention is allowed, bool [B, 1, S or 1, T]. */
static hg_value_id mha_allowed(hg_build *b, const hg_mha *m, hg_value_id mask)
{
    hg_dims *d = &b->g->dims;
    const int32_t rank = hg_build_type(b, mask)->rank;
    if (rank == 1) return mha_by_length(b, m, mask);
    if (rank == 4) { /* of the largest size there may be */
        mask = hg_build_part(b, mask, 2, m->past, hg_dim_add(d, m->past, m->queries));
        mask = hg_build_part(b, mask, 3, hg_dim_const(d, 0), hg_mha_total(d, m));
    } else {
        mask = hg_build_2(b, "Unsqueeze", mask,
                          hg_build_ints(b, (int64_t[]){1, 2}, rank == 2 ? 2 : 1));
    }
    return hg_build_2(b, "Greater", mask, hg_build_scalar(b, HOLO_I32, 0.0));
}

hg_value_id hg_build_mha_bias(hg_build *b, const hg_mha *m, hg_value_id mask, hg_value_id bias)
{
    holo_dtype dtype = hg_build_type(b, hg_build_in(b, 0))->dtype;
    double filter = hg_node_float(b->node, "mask_filter_value", MHA_FILTER);
    bool is_causal = hg_node_int(b->node, "unidirectional", 0) != 0;
    if (mask != 0) {
        hg_value_id forbidden =
            hg_build_3(b, "Where", mha_allowed(b, m, mask), hg_build_scalar(b, dtype, 0.0),
                       hg_build_scalar(b, dtype, filter));
        bias = bias == 0 ? forbidden : hg_build_2(b, "Add", bias, forbidden);
    }
    const hg_attention_mask all = {
        .queries = m->queries,
        .keys = hg_mha_total(&b->g->dims, m),
        .past = m->past,
        .mask = bias,
        .left = -1,
        .right = -1,
        .is_causal = is_causal,
        .dtype = dtype,
    };
    return hg_build_attention_bias(b, &all);
}

/* ---- caches --------------------------------------------------------------------------------- */

static hg_value_id mha_join(hg_build *b, hg_value_id first, hg_value_id second)
{
    hg_attr axis = hg_attr_make_int("axis", 2);
    return hg_build_op(b, "Concat", (hg_value_id[]){first, second}, 2, &axis, 1);
}

/* Which beam each row of the past is read from, [groups, past, beams, 1]; with several queries each
 * reads its own. A negative number is no beam: it becomes one that is outside for sure. */
static hg_value_id mha_beam(hg_build *b, const hg_mha *m, const hg_dim dims[4])
{
    hg_dims *d = &b->g->dims;
    const int64_t outside = INT64_MAX;
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1}, 3);
    hg_value_id last = hg_build_ints(b, (int64_t[]){-1}, 1),
                zero = hg_build_scalar(b, HOLO_I64, 0.0);
    hg_value_id none = hg_build_const(b, (hg_type){.dtype = HOLO_I64}, &outside, sizeof outside);
    hg_value_id x = hg_build_part(b, m->beams, 2, hg_dim_const(d, 0), m->past);
    x = hg_build_cast(b, hg_build_op(b, "Transpose", &x, 1, &perm, 1), HOLO_I64);
    x = hg_build_3(b, "Where", hg_build_2(b, "Less", x, zero), none, x);
    hg_dim single = hg_dim_eq(d, m->queries, hg_dim_const(d, 1));
    hg_value_id is_single = hg_build_cast(b, hg_build_dim(b, single), HOLO_BOOL);
    x = hg_build_3(b, "Where", is_single, x, hg_build_range(b, dims[1]));
    return hg_build_2(b, "Unsqueeze", x, last);
}

/* Rows of the past, [B, heads, past, size], as the beams read them. */
static hg_value_id mha_choose(hg_build *b, const hg_mha *m, hg_value_id held)
{
    if (b->status != HOLO_OK || m->beams == 0) return held;
    const hg_type type = *hg_build_type(b, held), beams = *hg_build_type(b, m->beams);
    hg_dim dims[] = {beams.dim[0], beams.dim[1], type.dim[1], type.dim[2], type.dim[3]};
    hg_attr batch = hg_attr_make_int("batch_dims", 2);
    hg_attr out = hg_attr_make_ints(b, "perm", (int64_t[]){0, 3, 1, 2, 4}, 5);
    hg_attr back = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 3, 1, 4}, 5);
    hg_value_id x = hg_build_reshape(b, held, dims, HG_COUNT(dims));
    hg_value_id in[] = {hg_build_op(b, "Transpose", &x, 1, &out, 1), mha_beam(b, m, dims)};
    x = hg_build_op(b, "GatherND", in, 2, &batch, 1); /* [groups, past, beams, heads, size] */
    return hg_build_reshape(b, hg_build_op(b, "Transpose", &x, 1, &back, 1), type.dim, 4);
}

hg_value_id hg_build_mha_cache(hg_build *b, const hg_mha *m, hg_value_id past, hg_value_id now,
                               hg_value_id *present)
{
    hg_dims *d = &b->g->dims;
    hg_dim total = hg_mha_total(d, m);
    *present = now;
    if (past == 0) return now;
    if (m->most == 0) return *present = mha_join(b, past, now);
    hg_value_id held = hg_build_part(b, past, 2, hg_dim_const(d, 0), m->past);
    hg_value_id all = mha_join(b, held, now);
    *present = mha_join(b, all, hg_build_part(b, past, 2, total, m->most));
    return m->beams == 0 ? all : mha_join(b, mha_choose(b, m, held), now);
}

hg_value_id hg_build_mha(hg_build *b, const hg_mha *m, const hg_value_id qkv[3], hg_value_id bias,
                         hg_value_id *scores)
{
    double scale = hg_node_float(b->node, "scale", 0.0);
    hg_dim heads = hg_dim_const(&b->g->dims, m->heads);
    hg_scores a = {
        .shape = {.batch = m->batch,
                  .q_heads = heads,
                  .heads = heads,
                  .queries = m->queries,
                  .keys = hg_mha_total(&b->g->dims, m),
                  .past = m->past,
                  .size = m->size,
                  .v_size = m->v_size},
        .q = qkv[0],
        .k = qkv[1],
        .v = qkv[2],
        .bias = bias,
        .scale = scale != 0.0 ? &scale : NULL,
        .is_wide = true,
        .is_flat = true,
    };
    hg_value_id y = hg_build_scores(b, &a);
    if (scores != NULL) *scores = a.stage[HG_SCORES_BIASED];
    return y;
}
