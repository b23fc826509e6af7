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
