/* op_norm.c - what LayerNormalization and RMSNormalization share. */
#include "op/op_norm.h"

#include "op/op_reduce.h"

/* The statistics may have any float type, bf16 and f64 included. */
static holo_status norm_stash(const hg_infer *n, holo_dtype *out)
{
    int64_t stash;
    HG_TRY(hg_attr_int(n, "stash_type", HOLO_F32, &stash));
    if (stash < 0 || stash >= 64 || !hg_dtype_in((holo_dtype)stash, HG_TYPES_FLOAT))
        return hg_infer_fail(n, HOLO_E_MODEL, "stash_type is %lld, expected a float type",
                             (long long)stash);
    *out = (holo_dtype)stash;
    return HOLO_OK;
}

holo_status hg_norm_infer(hg_infer *n)
{
    const hg_type *x = n->in[0];
    int32_t axis;
    double epsilon;
    holo_dtype stash = HOLO_F32;
    HG_TRY(hg_infer_rank(n, 0, 1, HG_MAX_RANK));
    HG_TRY(hg_attr_axis(n, "axis", -1, x->rank, &axis));
    HG_TRY(hg_attr_float(n, "epsilon", 1e-5, &epsilon));
    HG_TRY(norm_stash(n, &stash));
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (!hg_infer_has(n, i)) continue;
        HG_TRY(hg_infer_types(n, i, HG_TYPES_FLOAT));
        HG_TRY(hg_infer_rank(n, i, 0, x->rank));
        for (int32_t k = 0, lead = x->rank - n->in[i]->rank; k < n->in[i]->rank; k++) {
            if (hg_infer_equal_or_1(n, n->in[i]->dim[k], x->dim[lead + k])) continue;
            return hg_infer_fail(n, HOLO_E_SHAPE,
                                 "dimension %d of input %u does not broadcast to input 0", k, i);
        }
    }
    n->out[0] = *x;
    for (uint32_t j = 1; j < n->n_out; j++) {
        n->out[j] = *x;
        n->out[j].dtype = stash;
        for (int32_t k = axis; k < x->rank; k++)
            n->out[j].dim[k] = hg_dim_const(n->dims, 1);
    }
    return HOLO_OK;
}

/* Input i is absent or has the type of x and the rank of what is normalised; the kernel broadcasts
 * it and refuses sizes that do not fit. */
static bool norm_fits(const hg_build *b, uint32_t i, int32_t axis)
{
    const hg_type *x = hg_build_type(b, hg_build_in(b, 0)),
                  *s = hg_build_type(b, hg_build_in(b, i));
    if (s->dtype == HOLO_NONE) return true;
    return s->dtype == x->dtype && s->rank <= x->rank - axis;
}

hg_value_id hg_build_norm_mean(hg_build *b, hg_value_id x, int32_t axis)
{
    if (b->status != HOLO_OK) return 0;
    return hg_build_reduce_range(b, "ReduceMean", x, axis, hg_build_type(b, x)->rank);
}

hg_value_id hg_build_norm_inverse(hg_build *b, hg_value_id d, int32_t axis, double epsilon)
{
    if (b->status != HOLO_OK) return 0;
    hg_value_id square = hg_build_norm_mean(b, hg_build_2(b, "Mul", d, d), axis);
    hg_value_id least = hg_build_scalar(b, hg_build_type(b, d)->dtype, epsilon);
    hg_value_id root = hg_build_1(b, "Sqrt", hg_build_2(b, "Add", square, least));
    return hg_build_1(b, "Reciprocal", root);
}

/* The kernel keeps statistics in float32, or float64 of float64. */
static bool norm_has_kernel(const hg_build *b, holo_dtype dtype, holo_dtype stash, int32_t axis)
{
    const bool kept = stash == HOLO_F32 || (stash == HOLO_F64 && dtype == HOLO_F64);
    return kept && norm_fits(b, 1, axis) && norm_fits(b, 2, axis);
}

holo_status hg_norm_lower(hg_build *b, hg_norm_kind kind)
{
    hg_value_id x = hg_build_in(b, 0), scale = hg_build_in(b, 1), bias = hg_build_in(b, 2);
    const hg_type *type = hg_build_type(b, x);
    int64_t axis = hg_node_int(b->node, "axis", -1);
    if (axis < 0) axis += type->rank;
    holo_dtype stash = (holo_dtype)hg_node_int(b->node, "stash_type", HOLO_F32);
    if (norm_has_kernel(b, type->dtype, stash, (int32_t)axis)) return HOLO_OK;
    /* The scale of RMSNormalization gives the type of its result. */
    const holo_dtype dtype = kind == HG_NORM_RMS ? hg_build_type(b, scale)->dtype : type->dtype;
    const holo_dtype wide = stash == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    x = hg_build_cast(b, x, wide);
    hg_value_id mean = 0, d = x;
    if (kind == HG_NORM_LAYER) {
        mean = hg_build_norm_mean(b, x, (int32_t)axis);
        d = hg_build_2(b, "Sub", x, mean);
    }
    double epsilon = hg_node_float(b->node, "epsilon", 1e-5);
    hg_value_id inverse = hg_build_norm_inverse(b, d, (int32_t)axis, epsilon);
    hg_value_id y = hg_build_cast(b, hg_build_2(b, "Mul", d, inverse), dtype);
    y = hg_build_2(b, "Mul", y, hg_build_cast(b, scale, dtype));
    if (bias != 0) y = hg_build_2(b, "Add", y, hg_build_cast(b, bias, dtype));
    hg_build_replace(b, 0, y);
    if (b->node->n_out > 1) hg_build_replace(b, 1, hg_build_cast(b, mean, stash));
    if (b->node->n_out > 2) hg_build_replace(b, 2, hg_build_cast(b, inverse, stash));
    return b->status;
}

holo_status hg_norm_emit(hg_emit *e, hg_norm_kind kind)
{
    int64_t axis = hg_node_int(e->node, "axis", -1), rank = hg_emit_type(e, 0)->rank;
    HG_TRY(hg_emit_int(e, axis < 0 ? axis + rank : axis));
    HG_TRY(hg_emit_float(e, hg_node_float(e->node, "epsilon", 1e-5)));
    HG_TRY(hg_emit_int(e, kind));
    return hg_emit_int(e, hg_node_int(e->node, "stash_type", HOLO_F32));
}

/* ---- SimplifiedLayerNormalization ------------------------------------------------------------ */

holo_status hg_norm_simplified_infer(hg_infer *n)
{
    HG_TRY(hg_norm_infer(n));
    n->out[0].dtype = n->in[1]->dtype;
    return HOLO_OK;
}

/* Input and scale may have different types: both become the wider one meanwhile. */
holo_status hg_norm_simplified_lower(hg_build *b)
{
    hg_value_id x = hg_build_in(b, 0), scale = hg_build_in(b, 1);
    const hg_type type = *hg_build_type(b, x);
    holo_dtype to = hg_build_type(b, scale)->dtype, compute = to;
    if (to != type.dtype) compute = to == HOLO_F64 || type.dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    int64_t axis = hg_node_int(b->node, "axis", -1);
    holo_dtype stash = (holo_dtype)hg_node_int(b->node, "stash_type", HOLO_F32);
    double epsilon = hg_node_float(b->node, "epsilon", 1e-5);
    hg_value_id in[] = {hg_build_cast(b, x, compute), hg_build_cast(b, scale, compute)};
    hg_value_id y = hg_build_renamed(b, "RMSNormalization", in, 2, "holo");
    hg_build_replace(b, 0, hg_build_cast(b, y, to));
    if (b->status != HOLO_OK || b->node->n_out < 2) return b->status;
    x = hg_build_cast(b, x, stash);
    axis = axis < 0 ? axis + type.rank : axis;
    hg_build_replace(b, 1, hg_build_norm_inverse(b, x, (int32_t)axis, epsilon));
    return b->status;
}
