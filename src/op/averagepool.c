/* averagepool.c - AveragePool: the mean of each window. */
#include "op/op_pool_gradient.h"

static holo_status averagepool_infer(hg_infer *n)
{
    return hg_pool_infer(n, HG_POOL_NCHW);
}

static holo_status averagepool_emit(hg_emit *e)
{
    bool padded = hg_node_int(e->node, "count_include_pad", 0) != 0;
    return hg_pool_emit(e, padded ? HG_POOL_AVERAGE_PADDED : HG_POOL_AVERAGE, HG_POOL_NCHW);
}

/* Of a window over nothing but ones: the sum by the mean is what each mean was divided by. */
static hg_value_id averagepool_weights(hg_gradient *d, const hg_type *x, const hg_window *w,
                                       hg_value_id kernel)
{
    hg_build *b = d->b;
    hg_dims *dims = &b->g->dims;
    hg_type one = *x;
    hg_dim pads[2 * HG_MAX_SPATIAL];
    one.dim[0] = one.dim[1] = hg_dim_const(dims, 1);
    for (int32_t i = 0; i < w->rank; i++) {
        hg_dim last = hg_dim_sub(dims, w->out[i], hg_dim_const(dims, 1));
        hg_dim reach =
            hg_dim_add(dims, hg_dim_mul(dims, last, w->stride[i]), hg_window_span(dims, w, i));
        pads[i] = w->pad_begin[i];
        pads[w->rank + i] =
            hg_dim_sub(dims, reach, hg_dim_add(dims, x->dim[2 + i], w->pad_begin[i]));
    }
    const uint32_t rank = (uint32_t)w->rank;
    const hg_attr attr[] = {hg_attr_make_dims(b, "strides", w->stride, rank),
                            hg_attr_make_dims(b, "dilations", w->dilation, rank),
                            hg_attr_make_dims(b, "pads", pads, 2 * rank)};
    const hg_value_id ones = hg_build_full(b, &one, 1.0);
    hg_value_id sum =
        hg_build_op(b, "Conv", (hg_value_id[]){ones, kernel}, 2, attr, HG_COUNT(attr));
    const hg_node_id mean = hg_build_copy(b, d->id, &ones, 1);
    if (mean == 0) return 0;
    return hg_build_2(b, "Div", hg_graph_node(b->g, mean)->out[0], sum);
}

static holo_status averagepool_gradient(hg_gradient *d)
{
    const hg_infer n = hg_gradient_reader(d);
    const hg_type type = *hg_gradient_type(d, 0);
    hg_window w;
    HG_TRY(hg_pool_read(&n, &type, HG_POOL_NCHW, &w));
    hg_value_id weights = averagepool_weights(d, &type, &w, hg_build_pool_kernel(d->b, &type, &w));
    d->in[0] = hg_build_pool_back(d->b, hg_build_2(d->b, "Mul", d->out[0], weights), &type, &w);
    return d->b->status;
}

const hg_op hg_op_averagepool = {
    .name = "AveragePool",
    .brief = "the mean of each window",
    .since = 1,
    .version = 22,
    .in = {1, 1},
    .out = {1, 1},
    .types = HG_TYPES_FLOAT,
    .infer = averagepool_infer,
    .kernel = "pool",
    .emit = averagepool_emit,
    .gradient = averagepool_gradient,
};
