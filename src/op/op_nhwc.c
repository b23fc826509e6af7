/* op_nhwc.c - sliding windows over channels-last tensors [N, spatial..., C]. */
#include "op/op_nhwc.h"

holo_status hg_nhwc_infer(hg_infer *n, hg_window_kind kind, hg_dim channels, hg_window *w)
{
    const hg_type *x = n->in[0];
    HG_TRY(hg_window_read(n, kind, x->rank - 2, x->dim + 1, NULL, w));
    n->out[0] = *x;
    memcpy(n->out[0].dim + 1, w->out, (size_t)w->rank * sizeof w->out[0]);
    n->out[0].dim[x->rank - 1] = channels;
    return HOLO_OK;
}

void hg_nhwc_infer_means(hg_infer *n)
{
    if (n->n_out < 2) return;
    n->out[1] = n->out[0];
    n->out[1].dtype = HOLO_F32;
    n->out[1].dim[2] = hg_dim_const(n->dims, 1);
}

/* All entries are `value`, or there are none. */
static bool nhwc_all(const hg_node *n, const char *name, int64_t value)
{
    size_t count;
    const int64_t *v = hg_node_ints(n, name, &count);
    for (size_t i = 0; v != NULL && i < count; i++)
        if (v[i] != value) return false;
    return true;
}

bool hg_nhwc_is_pointwise(const hg_node *n)
{
    size_t axes;
    return hg_op_is(n, "holo:ConvNhwc") && hg_node_ints(n, "kernel_shape", &axes) != NULL &&
           axes == 2 && nhwc_all(n, "kernel_shape", 1) && nhwc_all(n, "strides", 1) &&
           nhwc_all(n, "pads", 0) && hg_node_int(n, "group", 1) == 1;
}

holo_status hg_nhwc_window(hg_emit *e, hg_window_kind kind, hg_window *w)
{
    hg_infer n = hg_emit_reader(e);
    const hg_type *x = hg_emit_type(e, 0);
    return hg_window_read(&n, kind, x->rank - 2, x->dim + 1, NULL, w);
}

holo_status hg_nhwc_conv_params(hg_emit *e)
{
    hg_window w;
    HG_TRY(hg_nhwc_window(e, HG_WINDOW_FLOOR, &w));
    HG_TRY(hg_window_emit(e, w.kernel, w.rank));
    HG_TRY(hg_window_emit(e, w.stride, w.rank));
    HG_TRY(hg_window_emit(e, w.pad_begin, w.rank));
    return hg_window_emit(e, w.dilation, w.rank);
}
