/* op_shape.c - shapes as expressions: what shape rules and emission of data movement share. */
#include "op/op_shape.h"

holo_status hg_shape_broadcast(const hg_infer *n, uint32_t first, uint32_t end, hg_type *out)
{
    hg_dim one = hg_dim_const(n->dims, 1), dim[HG_MAX_RANK];
    out->rank = 0;
    for (uint32_t i = first; i < end; i++) {
        const hg_type *in = n->in[i];
        if (in->dtype == HOLO_NONE) continue;
        int32_t rank = out->rank > in->rank ? out->rank : in->rank;
        for (int32_t k = 0; k < rank; k++) {
            int32_t a = k - (rank - out->rank), b = k - (rank - in->rank);
            HG_TRY(hg_infer_broadcast_dim(n, a < 0 ? one : out->dim[a], b < 0 ? one : in->dim[b],
                                          &dim[k]));
        }
        out->rank = rank;
        memcpy(out->dim, dim, (size_t)rank * sizeof dim[0]);
    }
    return HOLO_OK;
}

hg_dim hg_shape_product(hg_dims *d, const hg_type *t, int32_t begin, int32_t end)
{
    hg_dim product = hg_dim_const(d, 1);
    for (int32_t i = begin; i < end; i++)
        product = hg_dim_mul(d, product, t->dim[i]);
    return product;
}

void hg_shape_strides(hg_dims *d, const hg_type *t, hg_dim *stride)
{
    hg_dim step = hg_dim_const(d, 1);
    for (int32_t i = t->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step = hg_dim_mul(d, step, t->dim[i]);
    }
}

hg_dim hg_shape_and(hg_dims *d, hg_dim a, hg_dim b)
{
    return hg_dim_mul(d, a, b);
}

hg_dim hg_shape_within(hg_dims *d, hg_dim value, int64_t low, int64_t high)
{
    hg_dim above = hg_dim_lt(d, hg_dim_const(d, low - 1), value);
    return hg_shape_and(d, above, hg_dim_lt(d, value, hg_dim_const(d, high + 1)));
}

hg_dim hg_shape_guard(hg_dims *d, hg_dim condition, hg_dim dim)
{
    return hg_dim_select(d, condition, dim, hg_dim_const(d, -1));
}

void hg_shape_require(hg_dims *d, hg_dim condition, hg_type *type)
{
    int32_t best = 0;
    int64_t size;
    if (type->rank == 0 || hg_dim_is(d, condition, 1)) return;
    for (int32_t i = type->rank - 1; i >= 0; i--)
        if (!hg_dim_is(d, type->dim[i], 1)) best = i;
    for (int32_t i = type->rank - 1; i >= 0; i--)
        if (!hg_dim_is_const(d, type->dim[i], &size)) best = i;
    type->dim[best] = hg_shape_guard(d, condition, type->dim[best]);
}

holo_status hg_shape_expect(const hg_infer *n, uint32_t i, const hg_dim *dim, int32_t rank,
                            hg_dim *condition)
{
    HG_TRY(hg_infer_rank(n, i, rank, rank));
    for (int32_t k = 0; k < rank; k++) {
        const hg_dim actual = n->in[i]->dim[k];
        if (!hg_infer_equal(n, actual, dim[k])) {
            char is[64], expected[64];
            hg_dim_print(n->dims, actual, is, sizeof is);
            hg_dim_print(n->dims, dim[k], expected, sizeof expected);
            return hg_infer_fail(n, HOLO_E_SHAPE, "dimension %d of input %u is %s, expected %s", k,
                                 i, is, expected);
        }
        *condition = hg_shape_and(n->dims, *condition, hg_dim_eq(n->dims, actual, dim[k]));
    }
    return HOLO_OK;
}

hg_dim hg_shape_divide(hg_dims *d, hg_dim dim, int64_t by)
{
    hg_dim divisor = hg_dim_const(d, by), quotient = hg_dim_floordiv(d, dim, divisor);
    return hg_shape_guard(d, hg_dim_eq(d, hg_dim_mul(d, quotient, divisor), dim), quotient);
}

hg_dim hg_shape_axis(hg_dims *d, hg_dim axis, int32_t rank)
{
    /* Clamped first: the sum must not overflow whatever the model says; hg_axes.valid refuses it.
     */
    hg_dim near = hg_dim_max(d, axis, hg_dim_const(d, -(int64_t)rank - 1));
    near = hg_dim_min(d, near, hg_dim_const(d, rank));
    hg_dim negative = hg_dim_lt(d, near, hg_dim_const(d, 0));
    return hg_dim_select(d, negative, hg_dim_add(d, near, hg_dim_const(d, rank)), near);
}

holo_status hg_shape_axes(const hg_infer *n, const hg_dim *content, uint32_t count, int32_t rank,
                          hg_axes *out)
{
    hg_dims *d = n->dims;
    if (count > (uint32_t)rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "names %u axes, expected at most %d", count, rank);
    out->count = count;
    out->valid = hg_dim_const(d, 1);
    for (uint32_t k = 0; k < count; k++) {
        int64_t axis;
        hg_dim given = content == NULL ? hg_dim_const(d, k) : content[k];
        if (hg_dim_is_const(d, given, &axis) && (axis < -rank || axis >= rank))
            return hg_infer_fail(n, HOLO_E_SHAPE, "axis is %lld, expected %d to %d",
                                 (long long)axis, -rank, rank - 1);
        out->axis[k] = hg_shape_axis(d, given, rank);
        out->valid = hg_shape_and(d, out->valid, hg_shape_within(d, given, -rank, rank - 1));
        for (uint32_t i = 0; i < k; i++) {
            hg_dim same = hg_dim_eq(d, out->axis[i], out->axis[k]);
            if (hg_dim_is(d, same, 1))
                return hg_infer_fail(n, HOLO_E_SHAPE, "axes %u and %u are the same", i, k);
            out->valid = hg_shape_and(d, out->valid, hg_dim_sub(d, hg_dim_const(d, 1), same));
        }
    }
    return HOLO_OK;
}

hg_dim hg_shape_pick(hg_dims *d, const hg_axes *axes, const hg_dim *value, int32_t axis,
                     hg_dim standard)
{
    hg_dim picked = standard, number = hg_dim_const(d, axis);
    for (uint32_t k = 0; k < axes->count; k++)
        picked = hg_dim_select(d, hg_dim_eq(d, axes->axis[k], number), value[k], picked);
    return picked;
}

hg_dim hg_shape_has_axis(hg_dims *d, const hg_axes *axes, int32_t axis)
{
    hg_dim has = hg_dim_const(d, 0), number = hg_dim_const(d, axis);
    for (uint32_t k = 0; k < axes->count; k++)
        has = hg_dim_max(d, has, hg_dim_eq(d, axes->axis[k], number));
    return has;
}

void hg_shape_keep_content(hg_infer *n)
{
    const hg_dim *content;
    uint32_t count;
    if (!hg_infer_content(n, 0, &content, &count)) return;
    n->out_content[0] = content;
    n->n_out_content[0] = count;
}

hg_dim *hg_shape_new_content(hg_infer *n, uint32_t count)
{
    hg_dim *content = hg_arena_array(&n->ctx->arena, (size_t)count + 1, sizeof *content);
    if (content == NULL) return NULL;
    n->out_content[0] = content;
    n->n_out_content[0] = count;
    return content;
}

hg_infer hg_shape_from_emit(const hg_emit *e)
{
    return (hg_infer){.g = e->g, .ctx = e->ctx, .dims = &e->g->dims, .id = e->id, .node = e->node};
}

bool hg_shape_is_late(const hg_emit *e, uint32_t j, int32_t axis)
{
    int64_t number = hg_dim_symbol_of(&e->g->dims, hg_emit_out_type(e, j)->dim[axis]);
    if (number < 0) return false;
    const hg_symbol *symbol = &e->g->dims.symbol[number];
    return symbol->kind == HG_SYMBOL_SIZE && symbol->value == e->node->out[j];
}
