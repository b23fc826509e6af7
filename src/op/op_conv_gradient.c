/* op_conv_gradient.c - derivatives of convolutions, which are convolutions again. */
#include "op/op_conv.h"

static hg_value_id conv_slide(hg_build *b, const char *op, hg_value_id x, hg_value_id weights,
                              const hg_dim *stride, const hg_dim *dilation, const hg_dim *pads,
                              const hg_conv *c)
{
    const uint32_t rank = (uint32_t)c->window.rank;
    hg_attr attr[4] = {hg_attr_make_int("group", c->groups),
                       hg_attr_make_dims(b, "strides", stride, rank),
                       hg_attr_make_dims(b, "dilations", dilation, rank)};
    if (pads != NULL) attr[3] = hg_attr_make_dims(b, "pads", pads, 2 * rank);
    return hg_build_op(b, op, (hg_value_id[]){x, weights}, 2, attr, pads == NULL ? 3 : 4);
}

hg_value_id hg_build_conv_back(hg_build *b, hg_value_id dy, hg_value_id weights, const hg_conv *c,
                               const hg_dim *in)
{
    hg_dims *d = &b->g->dims;
    const hg_window *w = &c->window;
    hg_dim before[HG_MAX_RANK], after[HG_MAX_RANK];
    hg_value_id x = conv_slide(b, "ConvTranspose", dy, weights, w->stride, w->dilation, NULL, c);
    if (b->status != HOLO_OK) return 0;
    const hg_type whole = *hg_build_type(b, x);
    before[0] = before[1] = after[0] = after[1] = hg_dim_const(d, 0);
    for (int32_t i = 0; i < w->rank; i++) {
        before[2 + i] = hg_dim_sub(d, hg_dim_const(d, 0), w->pad_begin[i]);
        after[2 + i] = hg_dim_sub(d, hg_dim_add(d, in[i], w->pad_begin[i]), whole.dim[2 + i]);
    }
    return hg_build_pad(b, x, before, after, whole.rank);
}

/* [n, groups * m, spatial...] as [m, groups * n, spatial...] */
static hg_value_id conv_turn(hg_build *b, hg_value_id x, int64_t groups)
{
    hg_dims *d = &b->g->dims;
    if (b->status != HOLO_OK) return 0;
    const hg_type type = *hg_build_type(b, x);
    const hg_attr perm = hg_attr_make_ints(b, "perm", (int64_t[]){2, 1, 0, 3}, 4);
    hg_dim many = hg_dim_const(d, groups), one = hg_dim_floordiv(d, type.dim[1], many);
    hg_type apart = {.rank = 4, .dim = {type.dim[0], many, one, hg_dim_const(d, 1)}}, turned = type;
    for (int32_t i = 2; i < type.rank; i++)
        apart.dim[3] = hg_dim_mul(d, apart.dim[3], type.dim[i]);
    turned.dim[0] = one;
    turned.dim[1] = hg_dim_mul(d, many, type.dim[0]);
    x = hg_build_shaped(b, x, &apart);
    return hg_build_shaped(b, hg_build_op(b, "Transpose", &x, 1, &perm, 1), &turned);
}

/* The gradient slides over the input with strides and dilations exchanged: then samples are what is
 * summed up, and channels are what is given. Where windows leave a rest, the result is too large.
 */
static hg_value_id conv_weights(hg_build *b, hg_value_id x, hg_value_id dy, const hg_conv *c,
                                const hg_type *weights, const hg_dim *pads)
{
    const hg_window *w = &c->window;
    hg_value_id y = conv_slide(b, "Conv", conv_turn(b, x, c->groups), conv_turn(b, dy, 1),
                               w->dilation, w->stride, pads, c);
    hg_dim zero = hg_dim_const(&b->g->dims, 0);
    for (int32_t i = 2; i < weights->rank && b->status == HOLO_OK; i++) {
        if (hg_build_type(b, y)->dim[i] == weights->dim[i]) continue;
        const hg_attr attr[] = {hg_attr_make_int("axis", i),
                                hg_attr_make_dims(b, "begin", &zero, 1),
                                hg_attr_make_dims(b, "size", &weights->dim[i], 1)};
        y = hg_build_op(b, "holo:Part", &y, 1, attr, HG_COUNT(attr));
    }
    return conv_turn(b, y, 1);
}

hg_value_id hg_build_channel_sum(hg_build *b, hg_value_id dy)
{
    if (b->status != HOLO_OK) return 0;
    int64_t axes[HG_MAX_RANK] = {0};
    uint32_t count = 1;
    const hg_attr keep = hg_attr_make_int("keepdims", 0);
    for (int32_t i = 2; i < hg_build_type(b, dy)->rank; i++)
        axes[count++] = i;
    hg_value_id in[] = {dy, hg_build_ints(b, axes, count)};
    return hg_build_op(b, "ReduceSum", in, 2, &keep, 1);
}

static void conv_forward(hg_gradient *d, const hg_conv *c, const hg_type *x, const hg_type *weights)
{
    hg_build *b = d->b;
    hg_dim pads[2 * HG_MAX_SPATIAL];
    memcpy(pads, c->window.pad_begin, (size_t)c->window.rank * sizeof *pads);
    memcpy(pads + c->window.rank, c->window.pad_end, (size_t)c->window.rank * sizeof *pads);
    if (d->wanted[0])
        d->in[0] = hg_build_conv_back(b, d->out[0], hg_gradient_input(d, 1), c, x->dim + 2);
    if (d->wanted[1])
        d->in[1] = conv_weights(b, hg_gradient_input(d, 0), d->out[0], c, weights, pads);
}

/* A transposed convolution is the way back of a convolution; so this is the way forth, over what
 * the result was before it was cut. */
static void conv_transposed(hg_gradient *d, const hg_conv *c, const hg_type *x,
                            const hg_type *weights)
{
    hg_build *b = d->b;
    hg_dims *dims = &b->g->dims;
    const hg_window *w = &c->window;
    hg_dim before[HG_MAX_RANK], after[HG_MAX_RANK], one = hg_dim_const(dims, 1);
    before[0] = before[1] = after[0] = after[1] = hg_dim_const(dims, 0);
    for (int32_t i = 0; i < w->rank; i++) {
        hg_dim last = hg_dim_mul(dims, w->stride[i], hg_dim_sub(dims, x->dim[2 + i], one));
        hg_dim whole = hg_dim_add(dims, last, hg_window_span(dims, w, i));
        before[2 + i] = w->pad_begin[i];
        after[2 + i] = hg_dim_sub(dims, whole, hg_dim_add(dims, w->out[i], w->pad_begin[i]));
    }
    hg_value_id dy = hg_build_pad(b, d->out[0], before, after, x->rank);
    if (d->wanted[0])
        d->in[0] =
            conv_slide(b, "Conv", dy, hg_gradient_input(d, 1), w->stride, w->dilation, NULL, c);
    if (d->wanted[1]) d->in[1] = conv_weights(b, dy, hg_gradient_input(d, 0), c, weights, NULL);
}

holo_status hg_conv_gradient(hg_gradient *d, hg_conv_kind kind)
{
    const hg_infer n = hg_gradient_reader(d);
    const hg_type x = *hg_gradient_type(d, 0), weights = *hg_gradient_type(d, 1);
    hg_conv c = {0};
    HG_TRY(hg_conv_read(&n, kind, &x, &weights, &c));
    (kind == HG_CONV_FORWARD ? conv_forward : conv_transposed)(d, &c, &x, &weights);
    if (hg_gradient_input(d, 2) != 0 && d->wanted[2])
        d->in[2] = hg_build_channel_sum(d->b, d->out[0]);
    return d->b->status;
}
