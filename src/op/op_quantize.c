/* op_quantize.c - what QuantizeLinear and DequantizeLinear share. */
#include "op/op_quantize.h"

#include "op/op_shape.h"
#include "op/op_upgrade.h"

static holo_status quantize_check_blocks(const hg_infer *n, int32_t axis, int64_t block)
{
    const hg_type *x = n->in[0], *scale = n->in[1];
    if (block <= 0)
        return hg_infer_fail(n, HOLO_E_SHAPE,
                             "block_size is %lld, expected a positive number for "
                             "a scale of rank %d",
                             (long long)block, scale->rank);
    hg_dim blocks = hg_dim_ceildiv(n->dims, x->dim[axis], hg_dim_const(n->dims, block));
    for (int32_t i = 0; i < x->rank; i++) {
        hg_dim expected = i == axis ? blocks : x->dim[i];
        if (hg_infer_equal(n, scale->dim[i], expected)) continue;
        return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d of the scale does not fit the input",
                             i);
    }
    return HOLO_OK;
}

/* A scalar or, as exporters write it, a vector of one element. */
static bool quantize_is_single(const hg_infer *n, const hg_type *t)
{
    return t->rank == 0 || (t->rank == 1 && hg_dim_is(n->dims, t->dim[0], 1));
}

holo_status hg_quantize_check(const hg_infer *n)
{
    const hg_type *x = n->in[0], *scale = n->in[1], *zero = n->n_in > 2 ? n->in[2] : NULL;
    int64_t block;
    int32_t axis = 0;
    HG_TRY(hg_attr_int(n, "block_size", 0, &block));
    bool single = quantize_is_single(n, scale);
    if (zero != NULL && zero->dtype != HOLO_NONE && !(single && quantize_is_single(n, zero))) {
        HG_TRY(hg_infer_rank(n, 2, scale->rank, scale->rank));
        for (int32_t i = 0; i < scale->rank; i++)
            if (!hg_infer_equal(n, zero->dim[i], scale->dim[i]))
                return hg_infer_fail(n, HOLO_E_SHAPE,
                                     "dimension %d of the zero point differs from the scale's", i);
    }
    if (single) return HOLO_OK;
    if (scale->rank == 1 && block == 0) {
        if (x->rank > 1) HG_TRY(hg_attr_axis(n, "axis", 1, x->rank, &axis));
        HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
        if (hg_infer_equal_or_1(n, scale->dim[0], x->dim[axis])) return HOLO_OK;
        return hg_infer_fail(n, HOLO_E_SHAPE, "the scale does not have the size of dimension %d",
                             axis);
    }
    HG_TRY(hg_infer_rank(n, 1, x->rank, x->rank));
    if (x->rank > 1) HG_TRY(hg_attr_axis(n, "axis", 1, x->rank, &axis));
    return quantize_check_blocks(n, axis, block);
}

/* [.., S, ..] -> [.., S, 1, ..] -> [.., S, block, ..] -> [.., S * block, ..] -> cut to the input's
 * size */
static hg_value_id quantize_blocks(hg_build *b, hg_value_id scale, const hg_type *x, int32_t axis)
{
    hg_dims *d = &b->g->dims;
    int64_t block = hg_node_int(b->node, "block_size", 0), after = axis + 1;
    hg_type type = *hg_build_type(b, scale);
    hg_dim wide[HG_MAX_RANK + 1], size = hg_dim_const(d, block);
    if (x->rank == HG_MAX_RANK) {
        (void)hg_build_fail(b, HOLO_E_UNSUPPORTED, "blocks in a tensor of rank %d", x->rank);
        return 0;
    }
    for (int32_t i = 0; i < type.rank + 1; i++)
        wide[i] = i <= axis ? type.dim[i] : i == after ? size : type.dim[i - 1];
    hg_value_id y = hg_build_2(b, "Unsqueeze", scale, hg_build_ints(b, &after, 1));
    y = hg_build_2(b, "Expand", y, hg_build_dims(b, wide, (uint32_t)type.rank + 1));
    type.dim[axis] = hg_dim_mul(d, type.dim[axis], size);
    y = hg_build_reshape(b, y, type.dim, (uint32_t)type.rank);
    if (type.dim[axis] == x->dim[axis]) return y;
    hg_value_id in[4] = {y, hg_build_ints(b, &(int64_t){0}, 1), hg_build_dims(b, &x->dim[axis], 1),
                         hg_build_ints(b, &(int64_t){axis}, 1)};
    return hg_build_op(b, "Slice", in, 4, NULL, 0);
}

hg_value_id hg_quantize_spread(hg_build *b, hg_value_id scale)
{
    const hg_type x = *hg_build_type(b, hg_build_in(b, 0));
    const hg_type *type = hg_build_type(b, scale);
    if (type->rank == 0) return scale;
    if (type->rank == 1 && hg_dim_is(&b->g->dims, type->dim[0], 1))
        return hg_build_2(b, "Reshape", scale, hg_build_ints(b, NULL, 0));
    int64_t given = hg_node_int(b->node, "axis", 1);
    int32_t axis = x.rank == 1 ? 0 : (int32_t)(given < 0 ? given + x.rank : given);
    if (hg_node_int(b->node, "block_size", 0) != 0) return quantize_blocks(b, scale, &x, axis);
    int64_t axes[HG_MAX_RANK];
    uint32_t count = (uint32_t)(x.rank - 1 - axis);
    for (uint32_t i = 0; i < count; i++)
        axes[i] = 1 + (int64_t)i;
    return count == 0 ? scale : hg_build_2(b, "Unsqueeze", scale, hg_build_ints(b, axes, count));
}

holo_status hg_quantize_rewrite(hg_build *b)
{
    const hg_value_id in[3] = {hg_build_in(b, 0), hg_build_in(b, 1), hg_build_in(b, 2)};
    const hg_attr axis = hg_attr_make_int("axis", hg_node_int(b->node, "axis", 1));
    return hg_rewrite_as(b, b->node->op->name, in, in[2] == 0 ? 2 : 3, &axis, 1);
}

holo_status hg_quantize_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    hg_build b;
    (void)opset;
    hg_build_init(&b, g, id);
    HG_TRY(hg_quantize_rewrite(&b));
    hg_graph_remove_node(g, id);
    return HOLO_OK;
}
