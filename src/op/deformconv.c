/* deformconv.c - DeformConv: convolution whose taps are moved by offsets. */
#include "op/op_attention.h"
#include "op/op_conv.h"

static holo_status deformconv_read(const hg_infer *n, const hg_type *x, const hg_type *w,
                                   hg_conv *c, int64_t *offset_groups)
{
    HG_TRY(hg_attr_int(n, "offset_group", 1, offset_groups));
    if (*offset_groups < 1 || *offset_groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "offset_group is %lld, expected at least 1",
                             (long long)*offset_groups);
    return hg_conv_read(n, HG_CONV_FORWARD, x, w, c);
}

static holo_status deformconv_infer(hg_infer *n)
{
    hg_conv c = {0};
    int64_t offset_groups = 1;
    for (uint32_t i = 1; i < n->n_in; i++)
        if (hg_infer_has(n, i)) HG_TRY(hg_infer_same_type(n, 0, i));
    HG_TRY(deformconv_read(n, n->in[0], n->in[1], &c, &offset_groups));
    HG_TRY(hg_conv_bias(n, 3, c.channels_out));
    HG_TRY(hg_infer_rank(n, 2, n->in[0]->rank, n->in[0]->rank));
    if (hg_infer_has(n, 4)) HG_TRY(hg_infer_rank(n, 4, n->in[0]->rank, n->in[0]->rank));
    n->out[0] = hg_conv_type(&c, n->in[0], n->in[0]->dtype);
    return HOLO_OK;
}

static holo_status deformconv_emit(hg_emit *e)
{
    hg_infer n = hg_emit_reader(e);
    hg_conv c = {0};
    int64_t offset_groups = 1;
    HG_TRY(deformconv_read(&n, hg_emit_type(e, 0), hg_emit_type(e, 1), &c, &offset_groups));
    HG_TRY(hg_emit_int(e, c.window.rank));
    HG_TRY(hg_emit_int(e, c.groups));
    HG_TRY(hg_emit_int(e, offset_groups));
    HG_TRY(hg_window_emit(e, c.window.stride, c.window.rank));
    HG_TRY(hg_window_emit(e, c.window.pad_begin, c.window.rank));
    return hg_window_emit(e, c.window.dilation, c.window.rank);
}

/* ---- derivative ------------------------------------------------------------------------------ */

typedef struct deform {
    hg_build *b;
    hg_conv conv;
    hg_type x, w;
    hg_dim groups, taps; /* of offsets; in a kernel */
    holo_dtype dtype;
} deform;

/* [n] along dimension `axis` of a tensor of `rank` dimensions, in the type of the numbers. */
static hg_value_id deform_along(const deform *c, hg_value_id x, int32_t axis, int32_t rank)
{
    int64_t axes[HG_MAX_RANK];
    for (int32_t k = 0; k + axis + 1 < rank; k++)
        axes[k] = k + 1;
    x = hg_build_cast(c->b, x, c->dtype);
    return hg_build_2(c->b, "Unsqueeze", x, hg_build_ints(c->b, axes, (uint32_t)(rank - axis - 1)));
}

static hg_value_id deform_scaled(const deform *c, hg_value_id x, hg_dim factor)
{
    hg_value_id by = hg_build_cast(c->b, hg_build_dim(c->b, factor), c->dtype);
    return hg_build_2(c->b, "Mul", x, by);
}

/* Where the taps lie along spatial axis i before they are moved: [taps, out ...]. */
static hg_value_id deform_base(const deform *c, int32_t i)
{
    hg_build *b = c->b;
    hg_dims *d = &b->g->dims;
    const hg_window *w = &c->conv.window;
    hg_dim inner = hg_dim_const(d, 1);
    for (int32_t k = i + 1; k < w->rank; k++)
        inner = hg_dim_mul(d, inner, w->kernel[k]);
    hg_value_id tap = hg_build_2(b, "Div", hg_build_range(b, c->taps), hg_build_dim(b, inner));
    tap = hg_build_2(b, "Mod", tap, hg_build_dim(b, w->kernel[i]));
    tap = deform_scaled(c, deform_along(c, tap, 0, 1 + w->rank), w->dilation[i]);
    hg_value_id out = deform_along(c, hg_build_range(b, w->out[i]), 1 + i, 1 + w->rank);
    out = deform_scaled(c, out, w->stride[i]);
    hg_value_id pad = hg_build_cast(b, hg_build_dim(b, w->pad_begin[i]), c->dtype);
    return hg_build_2(b, "Sub", hg_build_2(b, "Add", tap, out), pad);
}

/* The offsets as GridSample wants places: [N groups, taps * out[0], out ..., rank], the last axis
 * first, where -1 and 1 are the outer edges. */
static hg_value_id deform_grid(const deform *c, hg_value_id offset)
{
    hg_build *b = c->b;
    hg_dims *d = &b->g->dims;
    const hg_window *w = &c->conv.window;
    const int32_t rank = w->rank;
    hg_dim dims[HG_MAX_RANK + 2], rows = hg_dim_mul(d, c->x.dim[0], c->groups);
    hg_value_id part[HG_MAX_SPATIAL], one = hg_build_scalar(b, c->dtype, 1.0);
    dims[0] = rows, dims[1] = c->taps, dims[2] = hg_dim_const(d, rank);
    memcpy(dims + 3, w->out, (size_t)rank * sizeof *dims);
    offset = hg_build_reshape(b, offset, dims, (uint32_t)rank + 3);
    for (int32_t i = 0; i < rank; i++) {
        hg_attr axis = hg_attr_make_int("axis", 2);
        hg_value_id in[] = {offset, hg_build_scalar(b, HOLO_I64, i)};
        hg_value_id at =
            hg_build_2(b, "Add", hg_build_op(b, "Gather", in, 2, &axis, 1), deform_base(c, i));
        at = hg_build_2(b, "Add", hg_build_2(b, "Add", at, at), one);
        hg_value_id size = hg_build_cast(b, hg_build_dim(b, c->x.dim[2 + i]), c->dtype);
        at = hg_build_2(b, "Sub", hg_build_2(b, "Div", at, size), one);
        part[rank - 1 - i] = hg_build_2(b, "Unsqueeze", at, hg_build_ints(b, (int64_t[]){-1}, 1));
    }
    hg_attr last = hg_attr_make_int("axis", -1);
    hg_value_id grid = hg_build_op(b, "Concat", part, (uint32_t)rank, &last, 1);
    dims[1] = hg_dim_mul(d, c->taps, w->out[0]);
    memcpy(dims + 2, w->out + 1, (size_t)(rank - 1) * sizeof *dims);
    dims[1 + rank] = hg_dim_const(d, rank);
    return hg_build_reshape(b, grid, dims, (uint32_t)rank + 2);
}

/* What the taps read, [N, conv groups, channels of a group * taps, out]. */
static hg_value_id deform_columns(const deform *c, hg_value_id x, hg_value_id grid,
                                  hg_value_id mask)
{
    hg_build *b = c->b;
    hg_dims *d = &b->g->dims;
    const hg_window *w = &c->conv.window;
    const hg_attr attr[] = {hg_attr_make_string("mode", "linear"),
                            hg_attr_make_string("padding_mode", "zeros"),
                            hg_attr_make_int("align_corners", 0)};
    hg_dim dims[HG_MAX_RANK], rows = hg_dim_mul(d, c->x.dim[0], c->groups), out = w->out[0];
    const hg_dim channels = hg_dim_floordiv(d, c->x.dim[1], c->groups);
    for (int32_t i = 1; i < w->rank; i++)
        out = hg_dim_mul(d, out, w->out[i]);
    dims[0] = rows, dims[1] = channels;
    memcpy(dims + 2, c->x.dim + 2, (size_t)w->rank * sizeof *dims);
    hg_value_id in[] = {hg_build_reshape(b, x, dims, (uint32_t)w->rank + 2), grid};
    hg_value_id y = hg_build_op(b, "GridSample", in, 2, attr, HG_COUNT(attr));
    const hg_dim read[] = {rows, channels, c->taps, out},
                 moved[] = {rows, hg_dim_const(d, 1), c->taps, out};
    y = hg_build_reshape(b, y, read, HG_COUNT(read));
    if (mask != 0) y = hg_build_2(b, "Mul", y, hg_build_reshape(b, mask, moved, HG_COUNT(moved)));
    const hg_dim groups = hg_dim_const(d, c->conv.groups);
    const hg_dim each = hg_dim_mul(d, hg_dim_floordiv(d, c->x.dim[1], groups), c->taps);
    const hg_dim columns[] = {c->x.dim[0], groups, each, out};
    return hg_build_reshape(b, y, columns, HG_COUNT(columns));
}

/* Said in operators that have rules: places are sampled, then it is a product. */
static holo_status deformconv_gradient(hg_gradient *d)
{
    hg_build *b = d->b;
    hg_dims *dims = &b->g->dims;
    hg_infer n = hg_gradient_reader(d);
    int64_t offset_groups = 1;
    deform c = {.b = b, .x = *n.in[0], .w = *n.in[1], .dtype = n.in[0]->dtype};
    HG_TRY(deformconv_read(&n, n.in[0], n.in[1], &c.conv, &offset_groups));
    const hg_window *w = &c.conv.window;
    if (w->rank < 2 || w->rank > 3 || w->rank + 3 > HG_MAX_RANK)
        return hg_gradient_fail(d, "it has %d spatial axes, expected 2 or 3", w->rank);
    c.groups = hg_dim_const(dims, offset_groups);
    c.taps = hg_dim_const(dims, 1);
    for (int32_t i = 0; i < w->rank; i++)
        c.taps = hg_dim_mul(dims, c.taps, w->kernel[i]);
    const hg_dim groups = hg_dim_const(dims, c.conv.groups);
    const hg_dim each = hg_dim_mul(dims, hg_dim_floordiv(dims, c.x.dim[1], groups), c.taps);
    const hg_dim rows[] = {groups, hg_dim_floordiv(dims, c.conv.channels_out, groups), each};
    const hg_type type = hg_conv_type(&c.conv, &c.x, c.dtype);
    const hg_node_id begin = hg_gradient_begin(d);
    hg_value_id grid = deform_grid(&c, hg_gradient_input(d, 2));
    hg_value_id columns =
        deform_columns(&c, hg_gradient_input(d, 0), grid, n.n_in > 4 ? hg_gradient_input(d, 4) : 0);
    hg_value_id weights = hg_build_reshape(b, hg_gradient_input(d, 1), rows, HG_COUNT(rows));
    hg_value_id y = hg_build_shaped(b, hg_build_2(b, "MatMul", weights, columns), &type);
    if (n.n_in > 3 && hg_gradient_input(d, 3) != 0)
        y = hg_build_2(b, "Add", y, deform_along(&c, hg_gradient_input(d, 3), 1, 2 + w->rank));
    return hg_gradient_through(d, begin, &y);
}

const hg_op hg_op_deformconv = {
    .name = "DeformConv",
    .brief = "convolution whose taps are moved by offsets",
    .since = 19,
    .version = 22,
    .in = {3, 5},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = deformconv_infer,
    .kernel = "deformconv",
    .emit = deformconv_emit,
    .gradient = deformconv_gradient,
};
