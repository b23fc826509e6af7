/* centercroppad.c - CenterCropPad: cuts or pads some axes to given sizes, the middle staying the
 * middle. */
#include "op/op.h"

/* Target size of each dimension; those not named keep theirs. */
static holo_status centercroppad_sizes(const hg_infer *n, const hg_type *x, hg_dim *out)
{
    const hg_dim *shape;
    uint32_t count;
    const int64_t *axes;
    size_t n_axes;
    int32_t axis;
    HG_TRY(hg_attr_ints(n, "axes", &axes, &n_axes));
    HG_TRY(hg_infer_need_content(n, 1, &shape, &count));
    size_t expected = axes == NULL ? (size_t)x->rank : n_axes;
    if (count != expected)
        return hg_infer_fail(n, HOLO_E_SHAPE, "shape has %u elements, expected %zu", count,
                             expected);
    memcpy(out, x->dim, (size_t)x->rank * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        HG_TRY(hg_axis_normalize(n, axes == NULL ? (int64_t)i : axes[i], x->rank, &axis));
        out[axis] = shape[i];
    }
    return HOLO_OK;
}

static holo_status centercroppad_infer(hg_infer *n)
{
    HG_TRY(hg_infer_rank(n, 1, 1, 1));
    n->out[0] = *n->in[0];
    return centercroppad_sizes(n, n->in[0], n->out[0].dim);
}

static holo_status centercroppad_lower(hg_build *b)
{
    hg_dims *d = &b->g->dims;
    hg_value_id x = hg_build_in(b, 0);
    hg_type type = *hg_build_type(b, x);
    hg_dim size[HG_MAX_RANK] = {0}, start[HG_MAX_RANK], end[HG_MAX_RANK], pads[2 * HG_MAX_RANK];
    hg_dim zero = hg_dim_const(d, 0), two = hg_dim_const(d, 2);
    const hg_type *in[] = {&type, hg_build_type(b, hg_build_in(b, 1))};
    hg_infer n = {
        .g = b->g, .ctx = b->ctx, .dims = d, .id = b->id, .node = b->node, .in = in, .n_in = 2};
    HG_TRY(centercroppad_sizes(&n, &type, size));
    uint32_t rank = (uint32_t)type.rank;
    if (rank == 0) {
        hg_build_replace(b, 0, x);
        return b->status;
    }
    for (uint32_t i = 0; i < rank; i++) {
        hg_dim more = hg_dim_max(d, hg_dim_sub(d, size[i], type.dim[i]), zero);
        hg_dim less = hg_dim_max(d, hg_dim_sub(d, type.dim[i], size[i]), zero);
        start[i] = hg_dim_floordiv(d, less, two);
        end[i] = hg_dim_add(d, start[i], hg_dim_min(d, size[i], type.dim[i]));
        pads[i] = hg_dim_floordiv(d, more, two);
        pads[rank + i] = hg_dim_sub(d, more, pads[i]);
    }
    hg_value_id cut =
        hg_build_3(b, "Slice", x, hg_build_dims(b, start, rank), hg_build_dims(b, end, rank));
    hg_build_replace(b, 0, hg_build_2(b, "Pad", cut, hg_build_dims(b, pads, 2 * rank)));
    return b->status;
}

const hg_op hg_op_centercroppad = {
    .name = "CenterCropPad",
    .brief = "cuts or pads axes to given sizes around the middle",
    .since = 18,
    .in = {2, 2},
    .out = {1, 1},
    .types = HG_TYPES_ANY & ~HG_TYPES_NARROW,
    .infer = centercroppad_infer,
    .lower = centercroppad_lower,
};
