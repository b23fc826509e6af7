/* convnchw.c - holo:ConvNchw: convolution of planes, channels last behind it, packed weights, with
 * an epilogue. */
#include "op/op_matmul.h"
#include "op/op_window.h"

#include "kernel/conv_nchw.h"

static holo_status convnchw_infer(hg_infer *n)
{
    hg_window w;
    hg_dim channels;
    HG_TRY(hg_infer_rank(n, 0, 4, 4));
    HG_TRY(hg_infer_rank(n, 1, 4, 4));
    HG_TRY(hg_attr_dim(n, "out_channels", &channels));
    HG_TRY(hg_window_read(n, HG_WINDOW_FLOOR, 2, n->in[0]->dim + 2, NULL, &w));
    n->out[0] = *n->in[0];
    memcpy(n->out[0].dim + 1, w.out, 2 * sizeof w.out[0]);
    n->out[0].dim[3] = channels;
    return hg_epilogue_type(n, HG_CONV_NCHW_FIRST_EXTRA, &n->out[0].dtype);
}

static holo_status convnchw_emit(hg_emit *e)
{
    hg_window w;
    hg_infer n = hg_emit_reader(e);
    HG_TRY(hg_window_read(&n, HG_WINDOW_FLOOR, 2, hg_emit_type(e, 0)->dim + 2, NULL, &w));
    HG_TRY(hg_window_emit(e, w.kernel, w.rank));
    HG_TRY(hg_window_emit(e, w.stride, w.rank));
    HG_TRY(hg_window_emit(e, w.pad_begin, w.rank));
    return hg_window_emit(e, w.dilation, w.rank);
}

const hg_op hg_op_internal_convnchw = {
    .name = "ConvNchw",
    .domain = "holo",
    .brief = "convolution of planes to channels last, packed weights, with an epilogue",
    .since = 1,
    .in = {2, -1},
    .out = {1, 1},
    .types = HG_TYPE_BIT(HOLO_F32),
    .flags = HG_OP_INTERNAL,
    .infer = convnchw_infer,
    .kernel = "conv.nchw",
    .emit = convnchw_emit,
};
