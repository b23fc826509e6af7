/* rotaryembedding.c - com.microsoft:RotaryEmbedding: the RotaryEmbedding of ONNX with its inputs in
 * another order; one number for the places means that they count up from it. */
#include "op/op_scores.h"

enum { ROTARY_MS_X, ROTARY_MS_PLACES, ROTARY_MS_COS, ROTARY_MS_SIN };

static holo_status rotaryembedding_microsoft_infer(hg_infer *n)
{
    int64_t heads, turned, flag;
    double scale;
    HG_TRY(hg_infer_rank(n, ROTARY_MS_X, 3, 4));
    HG_TRY(hg_infer_types(n, ROTARY_MS_PLACES, HG_TYPE_BIT(HOLO_I64)));
    HG_TRY(hg_infer_rank(n, ROTARY_MS_PLACES, 0, 2));
    for (uint32_t i = ROTARY_MS_COS; i <= ROTARY_MS_SIN; i++) {
        HG_TRY(hg_infer_same_type(n, ROTARY_MS_X, i));
        HG_TRY(hg_infer_rank(n, i, 2, 2));
    }
    HG_TRY(hg_attr_int(n, "interleaved", 0, &flag));
    HG_TRY(hg_attr_int(n, "num_heads", 0, &heads));
    HG_TRY(hg_attr_int(n, "rotary_embedding_dim", 0, &turned));
    /* `scale` would stretch tables that are too short, which nothing does: a place beyond them is
     * an error. Batches may be packed: a row of x longer than the tables, of texts with places of
     * their own. */
    HG_TRY(hg_attr_float(n, "scale", 1.0, &scale));
    HG_TRY(hg_attr_int(n, "is_packed_batching", 0, &flag));
    if (heads < 0 || turned < 0 || turned % 2 != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "num_heads is %lld and rotary_embedding_dim %lld, expected at least 0 "
                             "and an even number",
                             (long long)heads, (long long)turned);
    return hg_infer_same_as_input(n);
}

/* [B, S]: as given, or counted up from the one that is. */
static hg_value_id rotary_places(hg_build *b, const hg_type *x)
{
    hg_value_id places = hg_build_in(b, ROTARY_MS_PLACES);
    if (hg_build_type(b, places)->rank == 2) return places;
    hg_dim dims[] = {x->dim[0], x->dim[x->rank == 4 ? 2 : 1]};
    places = hg_build_2(b, "Add", hg_build_range(b, dims[1]),
                        hg_build_2(b, "Reshape", places, hg_build_ints(b, NULL, 0)));
    return hg_build_2(b, "Expand", places, hg_build_dims(b, dims, 2));
}

/* [B, heads, S, size] as [B, S, heads * size], the type of x. */
static hg_value_id rotary_flatten(hg_build *b, hg_value_id y, const hg_type *x)
{
    hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){0, 2, 1, 3}, 4);
    y = hg_build_op(b, "Transpose", &y, 1, &perm, 1);
    return hg_build_reshape(b, y, x->dim, 3);
}

static holo_status rotaryembedding_microsoft_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    hg_value_id in[] = {hg_build_in(b, ROTARY_MS_X), hg_build_in(b, ROTARY_MS_COS),
                        hg_build_in(b, ROTARY_MS_SIN), 0};
    const hg_type x = *hg_build_type(b, in[0]);
    hg_dim half = hg_build_type(b, in[1])->dim[1];
    int64_t heads = hg_node_int(b->node, "num_heads", 0);
    int64_t turned = hg_node_int(b->node, "rotary_embedding_dim", 0);
    bool splits = x.rank == 3 && heads == 0;
    in[3] = rotary_places(b, &x);
    if (splits) { /* as many heads as the tables are wide */
        hg_dim size = hg_dim_mul(d, half, hg_dim_const(d, 2));
        in[0] = hg_build_heads(b, in[0], hg_dim_floordiv(d, x.dim[2], size), size);
    }
    /* Without the attribute the width of the tables says how much is turned. */
    hg_dim width = turned != 0 ? hg_dim_const(d, turned) : hg_dim_mul(d, half, hg_dim_const(d, 2));
    hg_attr attr[] = {
        hg_attr_make_int("interleaved", hg_node_int(b->node, "interleaved", 0)),
        hg_attr_make_int("num_heads", heads),
        hg_attr_make_dims(b, "turned", &width, 1),
    };
    hg_value_id y = hg_build_op(b, "RotaryEmbedding", in, HG_COUNT(in), attr, HG_COUNT(attr));
    hg_build_replace(b, 0, splits ? rotary_flatten(b, y, &x) : y);
    return b->status;
}

const hg_op hg_op_microsoft_rotaryembedding = {
    .name = "RotaryEmbedding",
    .domain = "com.microsoft",
    .brief = "pairs of elements turned by an angle that their place gives",
    .since = 1,
    .in = {4, 4},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = rotaryembedding_microsoft_infer,
    .lower = rotaryembedding_microsoft_lower,
};
