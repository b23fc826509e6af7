/* rotaryembedding.c - RotaryEmbedding: pairs of elements turned by an angle that their place gives.
 */
#include "op/op.h"

enum { ROTARY_X, ROTARY_COS, ROTARY_SIN, ROTARY_POSITIONS };

static holo_status rotaryembedding_positions(const hg_infer *n, uint32_t i)
{
    const hg_type *x = n->in[0], *positions = n->in[i];
    const hg_dim rows = x->dim[x->rank == 4 ? 2 : 1];
    if (hg_infer_equal(n, positions->dim[0], x->dim[0]) &&
        hg_infer_equal(n, positions->dim[1], rows))
        return HOLO_OK;
    char have[64], want[64];
    hg_dim_print(n->dims, positions->dim[1], have, sizeof have);
    hg_dim_print(n->dims, rows, want, sizeof want);
    return hg_infer_fail(n, HOLO_E_SHAPE,
                         "there are positions for %s places, expected %s of each batch", have,
                         want);
}

static holo_status rotaryembedding_infer(hg_infer *n)
{
    int64_t heads, interleaved, turned;
    const hg_type *x = n->in[ROTARY_X];
    bool has_positions = hg_infer_has(n, ROTARY_POSITIONS);
    HG_TRY(hg_infer_rank(n, ROTARY_X, 3, 4));
    HG_TRY(hg_attr_int(n, "num_heads", 0, &heads));
    HG_TRY(hg_attr_int(n, "interleaved", 0, &interleaved));
    HG_TRY(hg_attr_int(n, "rotary_embedding_dim", 0, &turned));
    for (uint32_t i = ROTARY_COS; i <= ROTARY_SIN; i++) {
        HG_TRY(hg_infer_same_type(n, ROTARY_X, i));
        HG_TRY(hg_infer_rank(n, i, has_positions ? 2 : 3, has_positions ? 2 : 3));
    }
    if (has_positions) {
        HG_TRY(hg_infer_types(n, ROTARY_POSITIONS, HG_TYPE_BIT(HOLO_I64)));
        HG_TRY(hg_infer_rank(n, ROTARY_POSITIONS, 2, 2));
        HG_TRY(rotaryembedding_positions(n, ROTARY_POSITIONS));
    }
    if (x->rank == 3 && heads < 1)
        return hg_infer_fail(n, HOLO_E_MODEL, "num_heads is %lld, expected at least 1 for rank 3",
                             (long long)heads);
    if (turned < 0 || turned % 2 != 0)
        return hg_infer_fail(n, HOLO_E_MODEL,
                             "rotary_embedding_dim is %lld, expected an even number",
                             (long long)turned);
    return hg_infer_same_as_input(n);
}

/* Elements [begin, end) of the last axis, every `step`-th. */
static hg_value_id rotaryembedding_cut(hg_build *b, hg_value_id x, hg_dim begin, hg_dim end,
                                       int64_t step)
{
    hg_value_id in[] = {x, hg_build_dims(b, &begin, 1), hg_build_dims(b, &end, 1),
                        hg_build_ints(b, (int64_t[]){-1}, 1), hg_build_ints(b, &step, 1)};
    return hg_build_op(b, "Slice", in, HG_COUNT(in), NULL, 0);
}

static hg_value_id rotaryembedding_join(hg_build *b, hg_value_id first, hg_value_id second)
{
    hg_attr axis = hg_attr_make_int("axis", -1);
    return hg_build_op(b, "Concat", (hg_value_id[]){first, second}, 2, &axis, 1);
}

/* The table at the positions, [B, S, half], with a dimension of 1 where the heads are. */
static hg_value_id rotaryembedding_table(hg_build *b, uint32_t i, int64_t heads_axis)
{
    hg_value_id table = hg_build_in(b, i), positions = hg_build_in(b, ROTARY_POSITIONS);
    if (positions != 0) table = hg_build_2(b, "Gather", table, positions);
    return hg_build_2(b, "Unsqueeze", table, hg_build_ints(b, &heads_axis, 1));
}

/* The first `turned` elements of the last axis of x, [.., heads, .., size] in any order. */
static hg_value_id rotaryembedding_turn(hg_build *b, hg_value_id x, hg_dim turned,
                                        int64_t heads_axis)
{
    hg_dims *d = &b->g->dims;
    hg_dim zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1);
    hg_dim half = hg_dim_floordiv(d, turned, hg_dim_const(d, 2));
    bool interleaved = hg_node_int(b->node, "interleaved", 0) != 0;
    int64_t step = interleaved ? 2 : 1;
    hg_value_id p = rotaryembedding_cut(b, x, zero, interleaved ? turned : half, step);
    hg_value_id q = rotaryembedding_cut(b, x, interleaved ? one : half, turned, step);
    hg_value_id cosine = rotaryembedding_table(b, ROTARY_COS, heads_axis);
    hg_value_id sine = rotaryembedding_table(b, ROTARY_SIN, heads_axis);
    hg_value_id re =
        hg_build_2(b, "Sub", hg_build_2(b, "Mul", cosine, p), hg_build_2(b, "Mul", sine, q));
    hg_value_id im =
        hg_build_2(b, "Add", hg_build_2(b, "Mul", sine, p), hg_build_2(b, "Mul", cosine, q));
    if (!interleaved) return rotaryembedding_join(b, re, im);
    hg_value_id last = hg_build_ints(b, (int64_t[]){-1}, 1);
    hg_value_id pairs = rotaryembedding_join(b, hg_build_2(b, "Unsqueeze", re, last),
                                             hg_build_2(b, "Unsqueeze", im, last));
    if (b->status != HOLO_OK) return 0;
    hg_type type = *hg_build_type(b, x);
    type.dim[type.rank - 1] = turned;
    return hg_build_reshape(b, pairs, type.dim, (uint32_t)type.rank);
}

/* How many elements of a head are turned: all, unless an attribute says otherwise. Operators that
 * become this one may know an expression only, which the attribute "turned" has. */
static hg_dim rotaryembedding_turned(hg_build *b, hg_dim size)
{
    const hg_attr *turned = hg_node_attr(b->node, "turned");
    const int64_t stated = hg_node_int(b->node, "rotary_embedding_dim", 0);
    if (turned != NULL && turned->kind == HG_ATTR_DIMS && turned->count == 1)
        return turned->dims[0];
    return stated == 0 ? size : hg_dim_const(&b->g->dims, stated);
}

static holo_status rotaryembedding_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    hg_value_id x = hg_build_in(b, ROTARY_X);
    const hg_type type = *hg_build_type(b, x);
    int64_t heads = hg_node_int(b->node, "num_heads", 0);
    hg_dim size = type.dim[type.rank - 1];
    if (type.rank == 3) {
        size = hg_dim_floordiv(d, size, hg_dim_const(d, heads));
        hg_dim dims[] = {type.dim[0], type.dim[1], hg_dim_const(d, heads), size};
        x = hg_build_reshape(b, x, dims, HG_COUNT(dims));
    }
    hg_dim turned = rotaryembedding_turned(b, size);
    hg_value_id y = rotaryembedding_turn(b, x, turned, type.rank == 3 ? 2 : 1);
    if (turned != size) y = rotaryembedding_join(b, y, rotaryembedding_cut(b, x, turned, size, 1));
    if (type.rank == 3) y = hg_build_reshape(b, y, type.dim, 3);
    hg_build_replace(b, 0, y);
    return b->status;
}

const hg_op hg_op_rotaryembedding = {
    .name = "RotaryEmbedding",
    .brief = "pairs of elements turned by an angle that their place gives",
    .since = 23,
    .in = {3, 4},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = rotaryembedding_infer,
    .lower = rotaryembedding_lower,
};
