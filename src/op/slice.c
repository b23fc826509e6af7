/* slice.c - Slice: every step-th element between start and end, along some axes. */
#include "op/op.h"
#include "op/op_copy.h"
#include "op/op_gradient.h"
#include "op/op_shape.h"
#include "op/op_upgrade.h"

/* Slice-1: everything is an attribute. */
static holo_status slice_upgrade(hg_graph *g, hg_node_id id, int32_t opset)
{
    if (opset >= 10) return HOLO_OK;
    return hg_upgrade_ints_to_inputs(g, id, 1, (const char *const[]){"starts", "ends", "axes"}, 3);
}

/* The inputs as expressions; axes and steps may be missing. */
typedef struct slice_inputs {
    const hg_dim *start, *end, *step; /* step NULL: all 1 */
    hg_axes axes;
} slice_inputs;

static holo_status slice_read(const hg_infer *n, int32_t rank, slice_inputs *s)
{
    const hg_dim *content[5] = {NULL};
    uint32_t count[5] = {0};
    for (uint32_t i = 1; i < 5; i++) {
        if (hg_node_in(n->g, n->node, i) == 0) continue;
        HG_TRY(hg_infer_need_content(n, i, &content[i], &count[i]));
        if (count[i] != count[1])
            return hg_infer_fail(n, HOLO_E_SHAPE, "input %u has %u elements, but starts has %u", i,
                                 count[i], count[1]);
    }
    if (content[1] == NULL || content[2] == NULL)
        return hg_infer_fail(n, HOLO_E_MODEL, "starts and ends are missing");
    s->start = content[1];
    s->end = content[2];
    s->step = content[4];
    return hg_shape_axes(n, content[3], count[1], rank, &s->axes);
}

/* What happens along one axis. */
typedef struct slice_axis {
    hg_dim start, step, size;
} slice_axis;

/* No dimension comes near this: beyond it, a place means "as far as there is". */
#define SLICE_FAR (INT64_C(1) << 60)

static hg_dim slice_clamp(hg_dims *d, hg_dim x, hg_dim low, hg_dim high)
{
    int64_t known;
    if (hg_dim_is_const(d, x, &known) && known >= SLICE_FAR) return high;
    if (hg_dim_is_const(d, x, &known) && known <= -SLICE_FAR) return low;
    return hg_dim_min(d, hg_dim_max(d, x, low), high);
}

/* A place counted from the end becomes one from the beginning; clamped first, so that nothing
 * overflows. */
static hg_dim slice_place(hg_dims *d, hg_dim x, hg_dim dim, hg_dim low)
{
    hg_dim zero = hg_dim_const(d, 0);
    x = slice_clamp(d, x, hg_dim_sub(d, low, dim), dim);
    return hg_dim_select(d, hg_dim_lt(d, x, zero), hg_dim_add(d, x, dim), x);
}

/* Slice-13: places are clamped to the dimension. A step larger than the dimension takes one
 * element; so does the dimension itself.
 */
static slice_axis slice_along(hg_dims *d, const slice_inputs *s, int32_t axis, hg_dim dim)
{
    hg_dim zero = hg_dim_const(d, 0), one = hg_dim_const(d, 1), minus = hg_dim_const(d, -1);
    hg_dim start = hg_shape_pick(d, &s->axes, s->start, axis, zero);
    hg_dim end = hg_shape_pick(d, &s->axes, s->end, axis, dim);
    hg_dim step = s->step == NULL ? one : hg_shape_pick(d, &s->axes, s->step, axis, one);
    int64_t known;
    if (!hg_dim_is_const(d, step, &known) || known < -INT32_MAX || known > INT32_MAX) {
        hg_dim most = hg_dim_max(d, dim, one);
        step = slice_clamp(d, step, hg_dim_sub(d, zero, most), most);
    }
    hg_dim forward = hg_dim_lt(d, zero, step), last = hg_dim_sub(d, dim, one);
    hg_dim low = hg_dim_select(d, forward, zero, minus);
    start = slice_place(d, start, dim, zero);
    end = slice_place(d, end, dim, low);
    start = hg_dim_min(d, start, hg_dim_select(d, forward, dim, last));
    slice_axis a = {.start = start, .step = step};
    a.size = hg_dim_max(d, hg_dim_ceildiv(d, hg_dim_sub(d, end, start), step), zero);
    return a;
}

/* Known contents of a vector, from a known start and step. */
static void slice_content(hg_infer *n, const slice_inputs *s)
{
    const hg_dim *from;
    uint32_t count;
    int64_t start, step, size;
    if (n->in[0]->rank != 1 || !hg_infer_content(n, 0, &from, &count)) return;
    slice_axis a = slice_along(n->dims, s, 0, n->in[0]->dim[0]);
    if (!hg_dim_is_const(n->dims, a.start, &start) || !hg_dim_is_const(n->dims, a.step, &step) ||
        !hg_dim_is_const(n->dims, a.size, &size) || size > HG_MAX_CONTENT)
        return;
    hg_dim *content = hg_shape_new_content(n, (uint32_t)size);
    for (int64_t i = 0; content != NULL && i < size; i++)
        content[i] = from[start + i * step];
}

static holo_status slice_infer(hg_infer *n)
{
    slice_inputs s = {0};
    const hg_type *in = n->in[0];
    HG_TRY(slice_read(n, in->rank, &s));
    for (uint32_t k = 0; s.step != NULL && k < s.axes.count; k++)
        if (hg_dim_is(n->dims, s.step[k], 0))
            return hg_infer_fail(n, HOLO_E_SHAPE, "step %u is 0", k);
    n->out[0] = *in;
    for (int32_t i = 0; i < in->rank; i++)
        if (!hg_dim_is(n->dims, hg_shape_has_axis(n->dims, &s.axes, i), 0))
            n->out[0].dim[i] = slice_along(n->dims, &s, i, in->dim[i]).size;
    hg_shape_require(n->dims, s.axes.valid, &n->out[0]);
    slice_content(n, &s);
    return HOLO_OK;
}

static holo_status slice_emit(hg_emit *e)
{
    hg_dims *d = &e->g->dims;
    const hg_type *in = hg_emit_type(e, 0), *out = hg_emit_out_type(e, 0);
    const hg_infer n = hg_shape_from_emit(e);
    slice_inputs s = {0};
    HG_TRY(slice_read(&n, in->rank, &s));
    hg_dim stride[HG_MAX_RANK];
    hg_copy copy = {.offset = hg_dim_const(d, 0)};
    hg_shape_strides(d, in, stride);
    for (int32_t i = 0; i < in->rank; i++) {
        slice_axis a = {.start = hg_dim_const(d, 0), .step = hg_dim_const(d, 1)};
        if (!hg_dim_is(d, hg_shape_has_axis(d, &s.axes, i), 0))
            a = slice_along(d, &s, i, in->dim[i]);
        copy.offset = hg_dim_add(d, copy.offset, hg_dim_mul(d, a.start, stride[i]));
        hg_copy_loop(&copy, out->dim[i], hg_dim_mul(d, a.step, stride[i]));
    }
    return hg_emit_copy(e, &copy);
}

/* Zeros around it; with other steps than 1, between too. */
static holo_status slice_gradient(hg_gradient *d)
{
    hg_dims *dims = &d->b->g->dims;
    const hg_infer n = hg_gradient_reader(d);
    const hg_type type = *hg_gradient_type(d, 0);
    hg_dim before[HG_MAX_RANK], after[HG_MAX_RANK], none = hg_dim_const(dims, 0);
    slice_inputs s = {0};
    HG_TRY(slice_read(&n, type.rank, &s));
    for (int32_t i = 0; i < type.rank; i++) {
        before[i] = after[i] = none;
        if (hg_dim_is(dims, hg_shape_has_axis(dims, &s.axes, i), 0)) continue;
        const slice_axis a = slice_along(dims, &s, i, type.dim[i]);
        if (!hg_dim_is(dims, a.step, 1)) return hg_gradient_pick(d);
        before[i] = a.start;
        after[i] = hg_dim_sub(dims, hg_dim_sub(dims, type.dim[i], a.start), a.size);
    }
    d->in[0] = hg_build_pad(d->b, d->out[0], before, after, type.rank);
    return d->b->status;
}

const hg_op hg_op_slice = {
    .name = "Slice",
    .brief = "every step-th element between start and end, along some axes",
    .since = 1,
    .version = 13,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPES_ANY,
    .upgrade = slice_upgrade,
    .infer = slice_infer,
    .kernel = "copy.strided",
    .emit = slice_emit,
    .gradient = slice_gradient,
};
