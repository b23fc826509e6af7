/* op_conv.c - what Conv, ConvTranspose and the integer convolutions share. */
#include "op/op_conv.h"

#include "kernel/pack.h"

static holo_status conv_must_equal(const hg_infer *n, const char *what, hg_dim actual,
                                   hg_dim expected)
{
    if (hg_infer_equal(n, actual, expected)) return HOLO_OK;
    char a[64], b[64];
    hg_dim_print(n->dims, actual, a, sizeof a);
    hg_dim_print(n->dims, expected, b, sizeof b);
    return hg_infer_fail(n, HOLO_E_SHAPE, "%s %s, expected %s", what, a, b);
}

static holo_status conv_group_count(const hg_infer *n, int64_t *groups)
{
    HG_TRY(hg_attr_int(n, "group", 1, groups));
    if (*groups < 1 || *groups > INT32_MAX)
        return hg_infer_fail(n, HOLO_E_MODEL, "group is %lld, expected at least 1",
                             (long long)*groups);
    return HOLO_OK;
}

static holo_status conv_groups(const hg_infer *n, hg_dim channels, int64_t *groups)
{
    int64_t count;
    HG_TRY(conv_group_count(n, groups));
    if (hg_dim_is_const(n->dims, channels, &count) && count % *groups != 0)
        return hg_infer_fail(n, HOLO_E_SHAPE, "%lld channels cannot be divided into %lld groups",
                             (long long)count, (long long)*groups);
    return HOLO_OK;
}

holo_status hg_conv_read(const hg_infer *n, hg_conv_kind kind, const hg_type *x, const hg_type *w,
                         hg_conv *c)
{
    hg_dims *d = n->dims;
    if (w->rank != x->rank)
        return hg_infer_fail(n, HOLO_E_SHAPE, "the weights have rank %d, expected %d as the input",
                             w->rank, x->rank);
    hg_window_kind slide = kind == HG_CONV_FORWARD ? HG_WINDOW_FLOOR : HG_WINDOW_TRANSPOSE;
    HG_TRY(hg_window_read(n, slide, x->rank - 2, x->dim + 2, w->dim + 2, &c->window));
    if (kind == HG_CONV_FORWARD) {
        HG_TRY(conv_groups(n, w->dim[0], &c->groups));
        c->channels_out = w->dim[0];
        hg_dim expected = hg_dim_mul(d, w->dim[1], hg_dim_const(d, c->groups));
        return conv_must_equal(n, "the number of input channels is", x->dim[1], expected);
    }
    HG_TRY(conv_groups(n, x->dim[1], &c->groups));
    c->channels_out = hg_dim_mul(d, w->dim[1], hg_dim_const(d, c->groups));
    return conv_must_equal(n, "dimension 0 of the weights is", w->dim[0], x->dim[1]);
}

holo_status hg_conv_bias(const hg_infer *n, uint32_t bias, hg_dim channels)
{
    if (!hg_infer_has(n, bias)) return HOLO_OK;
    HG_TRY(hg_infer_rank(n, bias, 1, 1));
    return conv_must_equal(n, "the number of elements of the bias is", n->in[bias]->dim[0],
                           channels);
}

hg_type hg_conv_type(const hg_conv *c, const hg_type *x, holo_dtype dtype)
{
    hg_type out = {.dtype = dtype, .rank = x->rank, .dim = {x->dim[0], c->channels_out}};
    memcpy(out.dim + 2, c->window.out, (size_t)c->window.rank * sizeof out.dim[0]);
    return out;
}

holo_status hg_conv_infer(hg_infer *n, hg_conv_kind kind, hg_conv *c)
{
    HG_TRY(hg_infer_same_type(n, 0, 1));
    if (hg_infer_has(n, 2)) HG_TRY(hg_infer_same_type(n, 0, 2));
    HG_TRY(hg_conv_read(n, kind, n->in[0], n->in[1], c));
    HG_TRY(hg_conv_bias(n, 2, c->channels_out));
    n->out[0] = hg_conv_type(c, n->in[0], n->in[0]->dtype);
    return HOLO_OK;
}

holo_status hg_conv_params(hg_emit *e, const hg_conv *c)
{
    const hg_window *w = &c->window;
    HG_TRY(hg_emit_int(e, w->rank));
    HG_TRY(hg_emit_int(e, c->groups));
    HG_TRY(hg_window_emit(e, w->stride, w->rank));
    HG_TRY(hg_window_emit(e, w->pad_begin, w->rank));
    return hg_window_emit(e, w->dilation, w->rank);
}

holo_status hg_conv_emit(hg_emit *e, hg_conv_kind kind)
{
    hg_infer n = hg_emit_reader(e);
    hg_conv c = {0};
    HG_TRY(hg_conv_read(&n, kind, hg_emit_type(e, 0), hg_emit_type(e, 1), &c));
    return hg_conv_params(e, &c);
}

holo_status hg_infer_conv_panels(const hg_infer *n, int32_t rank_max, hg_conv_panels *out)
{
    int64_t groups;
    hg_dims *d = n->dims;
    HG_TRY(hg_infer_rank(n, 0, 4, rank_max));
    const hg_dim *w = n->in[0]->dim;
    HG_TRY(conv_group_count(n, &groups));
    out->groups = hg_dim_const(d, groups);
    out->panels =
        hg_dim_ceildiv(d, hg_dim_floordiv(d, w[0], out->groups), hg_dim_const(d, HG_PANEL));
    out->depth = w[1];
    for (int32_t k = 2; k < n->in[0]->rank; k++)
        out->depth = hg_dim_mul(d, out->depth, w[k]);
    return HOLO_OK;
}

holo_status hg_emit_conv_panels(hg_emit *e)
{
    return hg_emit_int(e, hg_node_int(e->node, "group", 1));
}
