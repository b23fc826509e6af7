/* op_reduce.c - what the reductions share. */
#include "op/op_reduce.h"

#include "op/op_window.h"

static holo_status reduce_add(const hg_infer *n, int64_t axis, int32_t rank, uint32_t *mask)
{
    int32_t at;
    HG_TRY(hg_axis_normalize(n, axis, rank, &at));
    *mask |= UINT32_C(1) << at;
    return HOLO_OK;
}

static holo_status reduce_from_input(const hg_infer *n, int32_t rank, hg_reduce_axes *out)
{
    const hg_dim *content;
    uint32_t count;
    hg_value_id id = hg_node_in(n->g, n->node, 1);
    const hg_type *type = &hg_graph_value(n->g, id)->type;
    int64_t length, axis;
    out->has_count = hg_dim_is_const(n->dims, hg_type_count(n->g, type), &length);
    out->count = out->has_count ? (uint32_t)length : 0;
    if (out->has_count && length == 0) return HOLO_OK;
    if (!hg_infer_content(n, 1, &content, &count)) {
        out->is_late = true;
        return HOLO_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        out->is_late = !hg_dim_is_const(n->dims, content[i], &axis);
        if (out->is_late) return HOLO_OK;
        HG_TRY(reduce_add(n, axis, rank, &out->mask));
    }
    return HOLO_OK;
}

holo_status hg_reduce_read(const hg_infer *n, int32_t rank, hg_reduce_axes *out)
{
    const int64_t *axes;
    size_t count;
    int64_t noop;
    *out = (hg_reduce_axes){0};
    HG_TRY(hg_attr_int(n, "noop_with_empty_axes", 0, &noop));
    HG_TRY(hg_attr_ints(n, "axes", &axes, &count));
    for (size_t i = 0; i < count; i++)
        HG_TRY(reduce_add(n, axes[i], rank, &out->mask));
    if (count == 0 && hg_node_in(n->g, n->node, 1) != 0) HG_TRY(reduce_from_input(n, rank, out));
    if (out->mask == 0 && !out->is_late && noop == 0) out->mask = (UINT32_C(1) << rank) - 1;
    return HOLO_OK;
}

static void reduce_shape(hg_infer *n, uint32_t mask, bool keep)
{
    const hg_type *x = n->in[0];
    hg_type *out = &n->out[0];
    *out = (hg_type){.dtype = x->dtype};
    for (int32_t i = 0; i < x->rank; i++) {
        bool reduced = (mask >> i & 1) != 0;
        if (reduced && !keep) continue;
        out->dim[out->rank++] = reduced ? hg_dim_const(n->dims, 1) : x->dim[i];
    }
}

holo_status hg_reduce_infer(hg_infer *n)
{
    hg_reduce_axes axes;
    int64_t keep;
    const hg_type *x = n->in[0];
    if (hg_infer_has(n, 1)) {
        HG_TRY(hg_infer_types(n, 1, HG_TYPE_BIT(HOLO_I64) | HG_TYPE_BIT(HOLO_I32)));
        HG_TRY(hg_infer_rank(n, 1, 0, 1));
    }
    HG_TRY(hg_attr_int(n, "keepdims", 1, &keep));
    HG_TRY(hg_reduce_read(n, x->rank, &axes));
    if (!axes.is_late) {
        reduce_shape(n, axes.mask, keep != 0);
        return HOLO_OK;
    }
    if (keep == 0 && !axes.has_count)
        return hg_infer_fail(n, HOLO_E_UNSUPPORTED,
                             "the number of axes is not known at compile time; keepdims=1 would be "
                             "possible");
    if (axes.count > (uint32_t)x->rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "%u axes, expected at most %d", axes.count, x->rank);
    hg_type *out = &n->out[0];
    *out =
        (hg_type){.dtype = x->dtype, .rank = keep != 0 ? x->rank : x->rank - (int32_t)axes.count};
    for (int32_t i = 0; i < out->rank; i++)
        out->dim[i] = hg_infer_late_dim(n, 0, (uint32_t)i);
    return HOLO_OK;
}

holo_status hg_reduce_emit(hg_emit *e, hg_reduce_op op)
{
    hg_infer n = hg_emit_reader(e);
    hg_reduce_axes axes;
    HG_TRY(hg_reduce_read(&n, hg_emit_type(e, 0)->rank, &axes));
    HG_TRY(hg_emit_int(e, op));
    if (axes.is_late) {
        e->kernel = "reduce.axes";
        HG_TRY(hg_emit_int(e, hg_node_int(e->node, "keepdims", 1) != 0));
        return hg_emit_int(e, hg_node_int(e->node, "noop_with_empty_axes", 0) != 0);
    }
    e->n_in = 1;
    HG_TRY(hg_emit_int(e, axes.mask));
    return hg_emit_int(e, 0);
}

holo_status hg_reduce_infer_index(hg_infer *n)
{
    int32_t axis;
    int64_t keep, last;
    HG_TRY(hg_attr_axis(n, "axis", 0, n->in[0]->rank, &axis));
    HG_TRY(hg_attr_int(n, "keepdims", 1, &keep));
    HG_TRY(hg_attr_int(n, "select_last_index", 0, &last));
    reduce_shape(n, UINT32_C(1) << axis, keep != 0);
    n->out[0].dtype = HOLO_I64;
    return HOLO_OK;
}

holo_status hg_reduce_emit_index(hg_emit *e, hg_reduce_op op)
{
    int64_t axis = hg_node_int(e->node, "axis", 0), rank = hg_emit_type(e, 0)->rank;
    HG_TRY(hg_emit_int(e, op));
    HG_TRY(hg_emit_int(e, INT64_C(1) << (axis < 0 ? axis + rank : axis)));
    return hg_emit_int(e, hg_node_int(e->node, "select_last_index", 0) != 0);
}

hg_value_id hg_build_reduce(hg_build *b, const char *op, hg_value_id x, const int64_t *axes,
                            uint32_t n_axes)
{
    return hg_build_2(b, op, x, hg_build_ints(b, axes, n_axes));
}

hg_value_id hg_build_reduce_range(hg_build *b, const char *op, hg_value_id x, int32_t begin,
                                  int32_t end)
{
    int64_t axes[HG_MAX_RANK];
    for (int32_t i = begin; i < end; i++)
        axes[i - begin] = i;
    return hg_build_reduce(b, op, x, axes, (uint32_t)(end - begin));
}

hg_value_id hg_build_norm(hg_build *b, hg_value_id x, int64_t p, int32_t begin, int32_t end)
{
    if (p == 1) return hg_build_reduce_range(b, "ReduceL1", x, begin, end);
    if (p == 2) return hg_build_reduce_range(b, "ReduceL2", x, begin, end);
    const holo_dtype dtype = hg_build_type(b, x)->dtype;
    const holo_dtype wide = dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32; /* cubes leave 16 bits soon */
    x = hg_build_1(b, "Abs", hg_build_cast(b, x, wide));
    x = hg_build_2(b, "Pow", x, hg_build_scalar(b, wide, (double)p));
    x = hg_build_reduce_range(b, "ReduceSum", x, begin, end);
    x = hg_build_2(b, "Pow", x, hg_build_scalar(b, wide, 1.0 / (double)p));
    return hg_build_cast(b, x, dtype);
}
